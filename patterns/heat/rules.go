package heat

import (
	"fmt"
	"math"
	"strings"
)

// tally are the counters of one resource.
type tally struct {
	counted map[string]float64
	s       *Snapshot
	name    string
}

func (t *tally) n(counter int) float64 { return t.counted[countNames[counter]] }

// rules are in the order of their findings.
var rules = []struct {
	kind           Kind
	service        string // "t", "q", or "" for the account
	spread         bool   // about how the load is spread: only the first applies to a table
	find           func(t *tally) Finding
	reason, remedy string
}{
	{AppendOnly, "t", true, func(t *tally) Finding { return t.ordered(countAscending, countLast, "last") }, oneServer, spreadKeys},
	{PrependOnly, "t", true, func(t *tally) Finding { return t.ordered(countDescending, countFirst, "first") }, oneServer, spreadKeys},
	{HotRow, "t", true, (*tally).hotRow,
		"One server holds the row, and concurrent changes of one row conflict on its ETag.",
		"Keep the row in a cache if it is read; count in several rows and add them up (MergeSpec.Add of patterns.NewView, patterns/dataseries) if it is written."},
	{HotPartition, "t", true, (*tally).hotPartition,
		"One server holds a partition; beyond its target the service answers 503, and the SDK waits and repeats.",
		"Divide the partition with keys.Spread (examples/hotpartition), or choose a partition key with more values."},
	{TableScans, "t", false, (*tally).scans,
		"The service reads every row of the table, and each row read counts against the targets; a page ends at the boundary of a partition, so a scan takes many requests.",
		"Add an index (patterns/secondaryindex, patterns/indexentity), or put what the query knows into the partition key (package query explains a filter)."},
	{PartitionScans, "t", false, (*tally).filtered,
		"The service has no index on properties: it reads the whole partition, and rows that do not match count as well.",
		"Put the property into the row key (keys.Layout, patterns/compoundkey), or keep copies under another row key (patterns/secondaryindex)."},
	{Batchable, "t", true, (*tally).batchable,
		"Each is a request of its own, with its own latency and price; a transaction writes up to 100 rows for one.",
		"Use Table.Batch, or Table.Bulk for any number of rows."},
	{LargeRetries, "t", false, (*tally).largeRetries,
		"Every try sends the whole body, and a time-out leaves open whether it was applied.",
		"Store large values in blobs (patterns/largeentity), make transactions smaller (BulkOptions), or allow a longer try (policy.RetryOptions.TryTimeout)."},
	{EmptyPolls, "q", false, (*tally).emptyPolls,
		"Each poll is billed, and counts against the 2,000 messages/s of the queue.",
		"Wait longer after each empty reply (the worker of patterns/eventual does), receive up to 32 messages in one request, and run fewer workers."},
	{Churn, "", false, (*tally).churn,
		"Connecting takes three round trips with TLS, and a process runs out of ports.",
		"Create each client once and share it, read replies to their end and close them, and raise MaxIdleConnsPerHost of the transport to the number of concurrent requests."},
}

const (
	oneServer  = "The service assigns ranges of partition keys to servers, so one server receives all writes, however many partitions there are: the target is 2,000 entities/s."
	spreadKeys = "Spread the keys with keys.Spread (examples/hotpartition), begin the partition key with another value, or store logs in blobs (patterns/logdata)."
)

// observed formats the values with [number].
func observed(figures []Figure, format string, values ...float64) Finding {
	texts := make([]any, len(values))
	for i, v := range values {
		texts[i] = number(v)
	}
	return Finding{Figures: figures, Observed: fmt.Sprintf(format, texts...)}
}

// share returns a/b, 0 without b.
func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// busiest returns the most of a figure in a minute, per second, of one resource or of all.
func (s *Snapshot) busiest(resource string, figure int) (most float64) {
	minutes := map[float64]float64{}
	for _, r := range s.Ranges {
		if resource != "" && resourceOf(r.From) != resource {
			continue
		}
		for _, step := range r.Steps[0] {
			minutes[step[0]] += step[1+figure]
			most = max(most, minutes[step[0]])
		}
	}
	return most / 60
}

// ordered finds keys that grow or shrink with time. It needs a tenth of the target of a
// partition, nine of ten writes at the end, and an end that moves.
func (t *tally) ordered(at, changed int, end string) (f Finding) {
	peak, ends, changes := t.s.busiest(t.name, writes), share(t.n(at), t.n(countWritten)), t.n(changed)
	if peak < PartitionTarget/10 || changes < 3 || ends < 0.9 {
		return f
	}
	return observed([]Figure{{"share", ends}, {"entities/s", peak}, {"changes", changes}},
		"%s%% of %s written entities went to the "+end+" partition, which changed %s times; %s/s in the busiest minute.",
		100*ends, t.n(countWritten), changes, peak)
}

// hottest returns the busiest of a list that belongs to the resource.
func (t *tally) hottest(list []Hot) Hot {
	for _, h := range list {
		resource := resourceOf(h.Key)
		if h.Peak > h.Uncertain && (resource == t.name || t.name == others && t.s.Resources[resource] == nil) {
			return h
		}
	}
	return Hot{}
}

// hotPartition finds a partition with half of the load of its target in one minute, or one
// that was throttled.
func (t *tally) hotPartition() (f Finding) {
	p := t.hottest(t.s.Partitions)
	peak := p.Peak / 60
	if peak < PartitionTarget/2 && (p.Throttled < 10 || peak < PartitionTarget/10) {
		return f
	}
	f = observed([]Figure{{"entities/s", peak}, {"share of the target", peak / PartitionTarget}, {"throttled", p.Throttled}},
		"%s entities/s in the busiest minute, %s%% of the target of a partition; %s requests were throttled.",
		peak, 100*peak/PartitionTarget, p.Throttled)
	resource, partition, _ := placeParts(p.Key)
	f.Resource, f.Key = resourceName(resource), t.s.show(partition)
	return f
}

// hotRow finds a row with half of the load of a hot partition.
func (t *tally) hotRow() Finding {
	f, p, r := t.hotPartition(), t.hottest(t.s.Partitions), t.hottest(t.s.Rows)
	if f.Observed == "" || r.Peak < p.Peak/2 || !strings.HasPrefix(r.Key, p.Key+"\x00") {
		return Finding{}
	}
	_, _, row := placeParts(r.Key)
	f.Key += " / " + t.s.show(row)
	f.Figures[0].Value = r.Peak / 60
	f.Observed = number(100*min(r.Peak/p.Peak, 1)) + "% of the load of its partition is one row: " + f.Observed
	return f
}

// scans finds queries without a partition key.
func (t *tally) scans() (f Finding) {
	n, pages, rows := t.n(countScans), t.n(countScanPages), t.n(countScanRows)
	of := share(pages, t.n(countTransactions))
	if n < 20 || of < 0.1 {
		return f
	}
	return observed([]Figure{{"scans", n}, {"requests", pages}, {"rows", rows}},
		"%s queries had no partition key: %s requests, %s%% of all of the table, for %s rows.", n, pages, 100*of, rows)
}

// filtered finds partition scans that return little.
func (t *tally) filtered() (f Finding) {
	n, all := t.n(countFiltered), t.n(countFilteredPages)
	pages, rows, millis := share(all, n), share(t.n(countFilteredRows), n), share(t.n(countFilteredMillis), n)
	if n < 20 || share(all, t.n(countTransactions)) < 0.1 || rows > 10 || pages < 1.5 && millis < 50 {
		return f
	}
	return observed([]Figure{{"queries", n}, {"rows per query", rows}, {"requests per query", pages}, {"ms per query", millis}},
		"%s queries tested a property of all rows of a partition: %s rows each, from %s requests and %s ms.", n, rows, pages, millis)
}

// batchable finds single writes of different rows of one partition, each within a tenth of a
// second after the previous one.
func (t *tally) batchable() (f Finding) {
	n, single := t.n(countBatchable), t.n(countSingle)
	if n < 1000 || n < single/2 {
		return f
	}
	return observed([]Figure{{"writes", n}, {"share", n / single}},
		"%s of %s single writes followed a write to another row of the same partition within 100 ms.", n, single)
}

// largeRetries finds large requests of which one of twenty has to be sent again.
func (t *tally) largeRetries() (f Finding) {
	n, failed, resent := t.n(countLarge), t.n(countLargeFailed), t.n(countLargeResent)
	if failed < 5 || share(failed, n) < 0.05 {
		return f
	}
	return observed([]Figure{{"failed", failed}, {"share", failed / n}, {"bytes", resent}},
		"%s of %s writes of 256 KiB or more failed and were sent again: %s MiB.", failed, n, resent/(1<<20))
}

// emptyPolls finds a queue that is asked ten times a minute or more and nearly always empty.
func (t *tally) emptyPolls() (f Finding) {
	n, empty := t.n(countPolls), t.n(countEmptyPolls)
	rate := share(empty, t.n(countPollMinutes))
	if empty < 100 || share(empty, n) < 0.9 || rate < 10 {
		return f
	}
	return observed([]Figure{{"empty polls", empty}, {"per minute", rate}},
		"%s of %s polls found no message, %s per minute.", empty, n, rate)
}

// churn finds that half of the observed requests opened a connection.
func (t *tally) churn() (f Finding) {
	n, dialed := t.n(countTraced), t.n(countDialed)
	if n < 20 || dialed < n/2 {
		return f
	}
	return observed([]Figure{{"observed", n}, {"new connections", dialed}},
		"%s of %s observed requests opened a new connection.", dialed, n)
}

// number formats a figure with two significant digits, or all of a whole number.
func number(v float64) string {
	if v < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.2g", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
