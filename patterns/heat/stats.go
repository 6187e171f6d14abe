package heat

import (
	"bytes"
	"time"

	"github.com/azpatterns/azpatterns/query"
)

// The counters of a resource, from which findings are made. All are sums, so that
// those of several processes can be added.
const (
	countTransactions = iota
	countWritten      // entities
	countAscending    // entities written to the last partition so far, or after it
	countDescending   // and to the first, or before it
	countLast         // times that the last partition changed
	countFirst
	countScans // queries of all partitions, or of a range of partitions
	countScanPages
	countScanRows
	countFiltered // queries that read a partition and test a condition on properties
	countFilteredPages
	countFilteredRows
	countFilteredMillis
	countSingle    // writes of one entity
	countBatchable // of these, of another row of the same partition within a tenth of a second
	countLarge     // writes of 256 KiB or more
	countLargeFailed
	countLargeResent // bytes
	countPolls
	countEmptyPolls
	countPollMinutes
	countTraced // requests whose connection was observed
	countDialed // of these, on a new connection
	counts
)

var countNames = [counts]string{
	"transactions", "written", "ascending", "descending", "lastChanged", "firstChanged", "scans", "scanPages", "scanRows",
	"filtered", "filteredPages", "filteredRows", "filteredMillis", "single", "batchable", "large", "largeFailed", "largeResent",
	"polls", "emptyPolls", "pollMinutes", "traced", "dialed",
}

const (
	largeWrite   = 256 << 10
	batchable    = 100 * time.Millisecond
	generation   = 12 * time.Hour // findings are about the current and the previous one
	maxResources = 128
)

// resource is a table, a queue or a container.
type resource struct {
	name   string             // 't', 'q' or 'b', and the name
	counts [2][counts]float64 // of the current and of the previous generation
	low    [2]place           // the first and the last partition written, in the current and in the previous hour
	high   [2]place
	pages  int // pages of queries that the buckets share in turn

	row, partition uint64 // hashes of the last single write
	wrote          time.Duration
	minute         int64 // of the last poll
}

// aboveAll sorts after every key: it is no UTF-8.
var aboveAll = place{text: [maxKey]byte{0xff}, n: 1}

// count adds a finished request to the counters. partition and row are hashes.
func (s *resource) count(r *request, minute int64, partition, row uint64) {
	c := &s.counts[0]
	c[countTransactions] += r.weight
	switch r.kind {
	case kindQuery:
		s.countQuery(r)
	case kindWrite, kindBatch:
		s.countWrite(r, partition, row)
	case kindPoll:
		c[countPolls] += r.weight
		if r.entities == 0 && r.ok {
			c[countEmptyPolls] += r.weight
		}
		if minute != s.minute {
			s.minute = minute
			c[countPollMinutes]++
		}
	}
}

func (s *resource) countQuery(r *request) {
	first := r.weight
	if r.next {
		first = 0
	}
	c := &s.counts[0]
	switch {
	case r.class >= query.PartitionRange:
		c[countScans] += first
		c[countScanPages] += r.weight
		c[countScanRows] += r.entities * r.weight
	case r.class == query.PartitionScan && r.filtered:
		c[countFiltered] += first
		c[countFilteredPages] += r.weight
		c[countFilteredRows] += r.entities * r.weight
		c[countFilteredMillis] += r.millis * r.weight
	}
}

func (s *resource) countWrite(r *request, partition, row uint64) {
	c := &s.counts[0]
	if r.sent >= largeWrite {
		c[countLarge] += r.weight
		if r.repeated {
			c[countLargeFailed] += r.weight
			c[countLargeResent] += float64(r.sent) * r.weight
		}
	}
	if s.name[0] != 't' || !r.ok {
		return
	}
	c[countWritten] += r.entities * r.weight
	key := r.in(r.partition)
	known := s.high[0].n > 0 || s.high[1].n > 0
	for _, end := range [...]struct {
		places            *[2]place
		sign, at, changed int
	}{{&s.high, 1, countAscending, countLast}, {&s.low, -1, countDescending, countFirst}} {
		beyond := end.sign * bytes.Compare(key, end.places[0].bytes())
		over := min(beyond, end.sign*bytes.Compare(key, end.places[1].bytes()))
		if over >= 0 {
			c[end.at] += r.entities * r.weight
		}
		if over > 0 && known {
			c[end.changed]++
		}
		if beyond > 0 {
			end.places[0].set(key)
		}
	}
	if r.kind != kindWrite || len(r.rows) != 1 {
		return
	}
	c[countSingle] += r.weight
	if partition == s.partition && row != s.row && r.at-s.wrote <= batchable {
		c[countBatchable] += r.weight
	}
	s.partition, s.row, s.wrote = partition, row, r.at
}

// hour forgets the first and the last partition of the hour before the previous one, so
// that one key outside of the usual range does not hide what follows.
func (s *resource) hour() {
	s.low[1], s.low[0] = s.low[0], aboveAll
	s.high[1], s.high[0] = s.high[0], place{}
}

// generation starts a new generation of counters.
func (s *resource) generation() {
	s.counts[1], s.counts[0] = s.counts[0], [counts]float64{}
}
