package heat

import (
	"bytes"
	"reflect"
	"time"

	"github.com/azpatterns/azpatterns/internal/target"
	"github.com/azpatterns/azpatterns/query"
)

// Counters are what findings are made from. All are sums, so that those of several processes
// can be added.
type Counters struct {
	Transactions   float64 `json:"transactions,omitempty"`
	Written        float64 `json:"written,omitempty"`      // entities
	Ascending      float64 `json:"ascending,omitempty"`    // entities written to the last partition up to two seconds before, or after it
	Descending     float64 `json:"descending,omitempty"`   // and to the first, or before it
	LastChanged    float64 `json:"lastChanged,omitempty"`  // times that the last partition changed
	FirstChanged   float64 `json:"firstChanged,omitempty"` // and the first
	Scans          float64 `json:"scans,omitempty"`        // queries of all partitions, or of a range of partitions
	ScanMinutes    float64 `json:"scanMinutes,omitempty"`  // in which scans began
	ScanPages      float64 `json:"scanPages,omitempty"`
	ScanRows       float64 `json:"scanRows,omitempty"`
	Filtered       float64 `json:"filtered,omitempty"` // queries that read a partition and test a condition on properties
	FilteredPages  float64 `json:"filteredPages,omitempty"`
	FilteredRows   float64 `json:"filteredRows,omitempty"`
	FilteredMillis float64 `json:"filteredMillis,omitempty"`
	Points         float64 `json:"points,omitempty"` // reads and writes of one entity
	PointMillis    float64 `json:"pointMillis,omitempty"`
	Single         float64 `json:"single,omitempty"`    // writes of one entity
	Batchable      float64 `json:"batchable,omitempty"` // of these, sent when one of another row of the same partition had just ended
	Large          float64 `json:"large,omitempty"`     // writes of 256 KiB or more
	LargeFailed    float64 `json:"largeFailed,omitempty"`
	LargeResent    float64 `json:"largeResent,omitempty"` // bytes
	Polls          float64 `json:"polls,omitempty"`
	EmptyPolls     float64 `json:"emptyPolls,omitempty"`
	PollMinutes    float64 `json:"pollMinutes,omitempty"`
	Traced         float64 `json:"traced,omitempty"` // requests whose connection was observed
	Dialed         float64 `json:"dialed,omitempty"` // of these, on a new connection
}

// plus returns the sums.
func (c Counters) plus(o Counters) Counters {
	sum, other := reflect.ValueOf(&c).Elem(), reflect.ValueOf(o)
	for i := range sum.NumField() {
		sum.Field(i).SetFloat(sum.Field(i).Float() + other.Field(i).Float())
	}
	return c
}

const (
	largeWrite   = 256 << 10
	batchable    = 5 * time.Millisecond
	generation   = 12 // hours; findings are about the current and the previous one
	maxResources = 128
)

// resource is a table, a queue or a container.
type resource struct {
	name   string      // 't', 'q' or 'b', and the name
	counts [2]Counters // of the current and of the previous generation
	low    edge        // the first and the last partition written
	high   edge
	second time.Duration // of the last write
	pages  int           // pages of queries that the buckets share in turn

	recent [8]single // writes
	turn   int
	minute int64 // of the last poll
	scan   int64 // the minute of the last one
}

// single is a write of one entity.
type single struct {
	partition, row uint64 // hashes
	ended          time.Duration
}

// edge is the first or the last partition written: so far in this hour, in the previous one, and up
// to one and two seconds ago, because concurrent writes end in another order than that of their keys.
type edge struct {
	now, hour place
	ago       [2]place
}

// aboveAll sorts after every key: it is no UTF-8.
var aboveAll = place{text: [maxKey]byte{0xff}, n: 1}

// before is the edge before the first write.
func (p place) before() edge { return edge{p, p, [2]place{p, p}} }

// count adds a finished request to the counters. partition and row are hashes.
func (s *resource) count(r *request, minute int64, partition, row uint64) {
	c := &s.counts[0]
	c.Transactions += r.weight
	if r.ok && r.Entities == 1 && (r.Kind == target.Read || r.Kind == target.Write) {
		c.Points += r.weight
		c.PointMillis += r.millis * r.weight
	}
	switch r.Kind {
	case target.Query:
		s.countQuery(r, minute)
	case target.Write, target.Batch:
		s.countWrite(r, partition, row)
	case target.Poll:
		c.Polls += r.weight
		if r.entities == 0 && r.ok {
			c.EmptyPolls += r.weight
		}
		if minute != s.minute {
			s.minute = minute
			c.PollMinutes++
		}
	}
}

func (s *resource) countQuery(r *request, minute int64) {
	first := r.weight
	if r.Next {
		first = 0
	}
	c := &s.counts[0]
	switch {
	case r.Class >= query.PartitionRange:
		c.Scans += first
		if first > 0 && minute != s.scan {
			s.scan = minute
			c.ScanMinutes++
		}
		c.ScanPages += r.weight
		c.ScanRows += r.entities * r.weight
	case r.Class == query.PartitionScan && r.Filtered:
		c.Filtered += first
		c.FilteredPages += r.weight
		c.FilteredRows += r.entities * r.weight
		c.FilteredMillis += r.millis * r.weight
	}
}

func (s *resource) countWrite(r *request, partition, row uint64) {
	c := &s.counts[0]
	if r.sent >= largeWrite {
		c.Large += r.weight
		if r.repeated {
			c.LargeFailed += r.weight
			c.LargeResent += float64(r.sent) * r.weight
		}
	}
	if s.name[0] != 't' || !r.ok {
		return
	}
	c.Written += r.entities * r.weight
	key := r.in(r.Partition)
	known := s.high.now.n > 0 || s.high.hour.n > 0
	second := r.at.Truncate(time.Second)
	for _, end := range [...]struct {
		*edge
		sign        int
		at, changed *float64
	}{{&s.high, 1, &c.Ascending, &c.LastChanged}, {&s.low, -1, &c.Descending, &c.FirstChanged}} {
		if second > s.second {
			end.ago = [2]place{end.now, end.ago[0]}
		}
		beyond := func(p *place) int { return end.sign * bytes.Compare(key, p.bytes()) }
		if beyond(&end.hour) >= 0 && beyond(&end.ago[1]) >= 0 {
			*end.at += r.entities * r.weight
		}
		if beyond(&end.now) > 0 {
			if known && beyond(&end.hour) > 0 {
				*end.changed++
			}
			end.now.set(key)
		}
	}
	s.second = max(s.second, second)
	if r.Kind != target.Write || len(r.Rows) != 1 {
		return
	}
	c.Single += r.weight
	for i := range s.recent {
		w := &s.recent[i]
		if gap := r.at - w.ended; w.partition == partition && w.row != row && gap >= 0 && gap <= batchable {
			c.Batchable += r.weight
			*w = single{} // only one follows it
			break
		}
	}
	s.recent[s.turn%len(s.recent)] = single{partition, row, r.at + time.Duration(r.millis*float64(time.Millisecond))}
	s.turn++
}

// hour forgets the first and the last partition of the hour before the previous one, so
// that one key outside of the usual range does not hide what follows.
func (s *resource) hour(generation bool) {
	was := s.low.now
	s.low, s.high = aboveAll.before(), edge{hour: s.high.now}
	s.low.hour = was
	if generation {
		s.counts[1], s.counts[0] = s.counts[0], Counters{}
	}
}
