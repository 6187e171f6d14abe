package heat

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// The documented targets, for entities of 1 KiB.
//
// https://learn.microsoft.com/azure/storage/tables/scalability-targets
const (
	PartitionTarget = 2000  // entities per second of a partition
	AccountTarget   = 20000 // transactions per second of an account
)

// Kind is what a [Finding] is about. The texts are stable.
type Kind string

const (
	AppendOnly     Kind = "append-only keys"
	PrependOnly    Kind = "prepend-only keys"
	HotPartition   Kind = "one hot partition"
	HotRow         Kind = "one hot row"
	TableScans     Kind = "table scans"
	PartitionScans Kind = "partition scans that return little"
	Batchable      Kind = "requests that could be batched"
	LargeRetries   Kind = "retries of large writes"
	EmptyPolls     Kind = "polling of an empty queue"
	Churn          Kind = "connection churn"
)

// Finding is a use of the service that costs more than it must. It contains labels, no
// keys. A Finding may be read concurrently.
type Finding struct {
	Kind     Kind
	Resource string // the name of the table, "queue …" or "container …"; "" for the account
	Key      string // the label of the partition or the row, if the finding is about one
	Figures  []Figure
	Observed string // what happened, with the figures
	Reason   string // why it costs
	Remedy   string // the package or the call that fixes it
}

// Figure is a number of a [Finding].
type Figure struct {
	Name  string
	Value float64
}

// String returns the finding in words.
func (f Finding) String() string {
	about := string(f.Kind)
	if f.Resource != "" {
		about = f.Resource + ": " + about
	}
	return about + ": " + f.Observed + " " + f.Reason + " " + f.Remedy
}

// Findings returns what costs more than it must, from the last 12 to 24 hours, and for hot
// keys from the last few hours. It makes no request.
func (m *Meter) Findings() []Finding { return m.Snapshot().Findings() }

// Findings is [Meter.Findings] of a snapshot.
//
// A finding needs both a rate that matters and a share of the requests that is not an
// exception: a time-ordered log at one entity per second, or an export every night, is fine.
func (s *Snapshot) Findings() []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(s.Resources)) {
		t := tally{s.Resources[name], s, name}
		switch {
		case name == "":
			found = t.churn(found)
		case name[0] == 'q':
			found = t.emptyPolls(found)
		case name[0] == 't':
			found = t.table(found)
		}
	}
	return found
}

// tally are the counters of one resource.
type tally struct {
	counted map[string]float64
	s       *Snapshot
	name    string
}

func (t *tally) n(counter int) float64 { return t.counted[countNames[counter]] }

// share returns a/b, 0 without b.
func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (t *tally) finding(kind Kind, key, observed, reason, remedy string, figures ...Figure) Finding {
	name := ""
	if t.name != "" {
		name = resourceName(t.name)
	}
	return Finding{kind, name, key, figures, observed, reason, remedy}
}

// peak returns the entities written in the busiest minute, per second.
func (t *tally) peak() float64 {
	minutes := map[float64]float64{}
	for _, r := range t.s.Ranges {
		if resourceOf(r.From) != t.name {
			continue
		}
		for _, step := range r.Steps[0] {
			minutes[step[0]] += step[1+writes]
		}
	}
	most := 0.0
	for _, n := range minutes {
		most = max(most, n)
	}
	return most / 60
}

func (t *tally) table(found []Finding) []Finding {
	before := len(found)
	found = t.ordered(found)
	if len(found) == before {
		found = t.hot(found)
	}
	busy := len(found) > before
	found = t.scans(found)
	if !busy {
		// Spreading the keys comes first, and decides what can be batched.
		found = t.batchable(found)
	}
	return t.largeRetries(found)
}

// ordered finds keys that grow or shrink with time. It needs a tenth of the target of a
// partition, nine of ten writes at the end, and an end that moves.
func (t *tally) ordered(found []Finding) []Finding {
	peak, written := t.peak(), t.n(countWritten)
	if peak < PartitionTarget/10 {
		return found
	}
	for _, c := range []struct {
		kind        Kind
		at, changed float64
		end         string
	}{
		{AppendOnly, t.n(countAscending), t.n(countLast), "last"},
		{PrependOnly, t.n(countDescending), t.n(countFirst), "first"},
	} {
		if c.changed < 3 || share(c.at, written) < 0.9 {
			continue
		}
		return append(found, t.finding(c.kind, "",
			fmt.Sprintf("%s%% of %s written entities went to the %s partition, which changed %s times; %s/s in the busiest minute.",
				number(100*c.at/written), number(written), c.end, number(c.changed), number(peak)),
			"The service assigns ranges of partition keys to servers, so one server receives all writes, however many partitions there are: the target is 2,000 entities/s.",
			"Spread the keys with keys.Spread (examples/hotpartition), begin the partition key with another value, or store logs in blobs (patterns/logdata).",
			Figure{"share", c.at / written}, Figure{"entities/s", peak}, Figure{"changes", c.changed}))
	}
	return found
}

// hot finds a partition with half of the load of its target in one minute, or one that was
// throttled, and a row that causes most of it.
func (t *tally) hot(found []Finding) []Finding {
	of := func(list []Hot) *Hot {
		for i, h := range list {
			if resourceOf(h.Key) == t.name && h.Peak-h.Uncertain > 0 {
				return &list[i]
			}
		}
		return nil
	}
	p := of(t.s.Partitions)
	if p == nil {
		return found
	}
	peak := p.Peak / 60
	if peak < PartitionTarget/2 && (p.Throttled < 10 || peak < PartitionTarget/10) {
		return found
	}
	_, partition, _ := placeParts(p.Key)
	key := t.s.show(partition)
	figures := []Figure{{"entities/s", peak}, {"share of the target", peak / PartitionTarget}, {"throttled", p.Throttled}}
	observed := fmt.Sprintf("%s entities/s in the busiest minute, %s%% of the target of a partition; %s requests were throttled.",
		number(peak), number(100*peak/PartitionTarget), number(p.Throttled))
	if r := of(t.s.Rows); r != nil && r.Peak >= p.Peak/2 && strings.HasPrefix(r.Key, p.Key+"\x00") {
		_, _, row := placeParts(r.Key)
		figures[0].Value = r.Peak / 60
		return append(found, t.finding(HotRow, key+" / "+t.s.show(row),
			fmt.Sprintf("%s%% of the load of its partition is one row: %s", number(100*min(r.Peak/p.Peak, 1)), observed),
			"One server holds the row, and concurrent changes of one row conflict on its ETag.",
			"Keep the row in a cache if it is read; count in several rows and add them up (MergeSpec.Add of patterns.NewView, patterns/dataseries) if it is written.", figures...))
	}
	return append(found, t.finding(HotPartition, key, observed,
		"One server holds a partition; beyond its target the service answers 503, and the SDK waits and repeats.",
		"Divide the partition with keys.Spread (examples/hotpartition), or choose a partition key with more values.", figures...))
}

// scans finds queries without a partition key, and partition scans that return little.
func (t *tally) scans(found []Finding) []Finding {
	all := t.n(countTransactions)
	if n, pages := t.n(countScans), t.n(countScanPages); n >= 20 && share(pages, all) >= 0.1 {
		found = append(found, t.finding(TableScans, "",
			fmt.Sprintf("%s queries had no partition key: %s requests, %s%% of all of the table, for %s rows.", number(n), number(pages), number(100*pages/all), number(t.n(countScanRows))),
			"The service reads every row of the table, and each row read counts against the targets; a page ends at the boundary of a partition, so a scan takes many requests.",
			"Add an index (patterns/secondaryindex, patterns/indexentity), or put what the query knows into the partition key (package query explains a filter).",
			Figure{"scans", n}, Figure{"requests", pages}, Figure{"rows", t.n(countScanRows)}))
	}
	n, pages, rows := t.n(countFiltered), t.n(countFilteredPages), t.n(countFilteredRows)
	if millis := share(t.n(countFilteredMillis), n); n >= 20 && share(pages, all) >= 0.1 && rows/n <= 10 && (pages/n >= 1.5 || millis >= 50) {
		found = append(found, t.finding(PartitionScans, "",
			fmt.Sprintf("%s queries tested a property of all rows of a partition: %s rows each, from %s requests and %s ms.", number(n), number(rows/n), number(pages/n), number(millis)),
			"The service has no index on properties: it reads the whole partition, and rows that do not match count as well.",
			"Put the property into the row key (keys.Layout, patterns/compoundkey), or keep copies under another row key (patterns/secondaryindex).",
			Figure{"queries", n}, Figure{"rows per query", rows / n}, Figure{"requests per query", pages / n}, Figure{"ms per query", millis}))
	}
	return found
}

// batchable finds single writes of different rows of one partition, each within a tenth of a
// second after the previous one.
func (t *tally) batchable(found []Finding) []Finding {
	n, single := t.n(countBatchable), t.n(countSingle)
	if n < 1000 || n < single/2 {
		return found
	}
	return append(found, t.finding(Batchable, "",
		fmt.Sprintf("%s of %s single writes followed a write to another row of the same partition within 100 ms.", number(n), number(single)),
		"Each is a request of its own, with its own latency and price; a transaction writes up to 100 rows for one.",
		"Use Table.Batch, or Table.Bulk for any number of rows.",
		Figure{"writes", n}, Figure{"share", n / single}))
}

// largeRetries finds large requests of which one of twenty has to be sent again.
func (t *tally) largeRetries(found []Finding) []Finding {
	n, failed := t.n(countLarge), t.n(countLargeFailed)
	if failed < 5 || share(failed, n) < 0.05 {
		return found
	}
	resent := t.n(countLargeResent)
	return append(found, t.finding(LargeRetries, "",
		fmt.Sprintf("%s of %s writes of 256 KiB or more failed and were sent again: %s MiB.", number(failed), number(n), number(resent/(1<<20))),
		"Every try sends the whole body, and a time-out leaves open whether it was applied.",
		"Store large values in blobs (patterns/largeentity), make transactions smaller (BulkOptions), or allow a longer try (policy.RetryOptions.TryTimeout).",
		Figure{"failed", failed}, Figure{"share", failed / n}, Figure{"bytes", resent}))
}

// emptyPolls finds a queue that is asked ten times a minute or more and nearly always empty.
func (t *tally) emptyPolls(found []Finding) []Finding {
	n, empty, minutes := t.n(countPolls), t.n(countEmptyPolls), t.n(countPollMinutes)
	if empty < 100 || share(empty, n) < 0.9 || share(empty, minutes) < 10 {
		return found
	}
	return append(found, t.finding(EmptyPolls, "",
		fmt.Sprintf("%s of %s polls found no message, %s per minute.", number(empty), number(n), number(empty/minutes)),
		"Each poll is billed, and counts against the 2,000 messages/s of the queue.",
		"Wait longer after each empty reply (the worker of patterns/eventual does), receive up to 32 messages in one request, and run fewer workers.",
		Figure{"empty polls", empty}, Figure{"per minute", empty / minutes}))
}

// churn finds that half of the observed requests opened a connection.
func (t *tally) churn(found []Finding) []Finding {
	n, dialed := t.n(countTraced), t.n(countDialed)
	if n < 20 || dialed < n/2 {
		return found
	}
	return append(found, t.finding(Churn, "",
		fmt.Sprintf("%s of %s observed requests opened a new connection.", number(dialed), number(n)),
		"Connecting takes three round trips with TLS, and a process runs out of ports.",
		"Create each client once and share it, read replies to their end and close them, and raise MaxIdleConnsPerHost of the transport to the number of concurrent requests.",
		Figure{"observed", n}, Figure{"new connections", dialed}))
}

// number formats a figure with three significant digits, or all of a whole number.
func number(v float64) string {
	switch {
	case v >= 1000 || v == math.Trunc(v):
		return thousands(fmt.Sprintf("%.0f", v))
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// thousands separates groups of three digits.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
