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

// busy reports whether a load is beyond the target of a partition: it reached the target for a minute, or
// requests were throttled.
func busy(peak, refused float64) bool {
	return peak >= PartitionTarget || refused > 0 && peak >= PartitionTarget/10
}

// Kind is what a [Finding] is about. The texts are stable.
//
// Precision is the share of the findings whose table or queue was sick: throttled at the documented
// targets, or with more than twice the requests of the best layout. Recall is the share of those sick
// in this way that had the finding. They are from generated loads of minutes, the lower of those of 1,556
// sick and 1,000 healthy loads and of two families that were written before the rules were read, of
// which 1,385 sick and 1,232 healthy ones were run. Of the findings of table scans all 231 of the former were right, and 22 of 25
// of the latter. Hot rows and prepend-only keys were 16 cases or fewer, and hot partitions 23 of the latter. No rule is about 697
// sick tables and queues of the former, such as those with rows read one by one that one query would return.
//
//	AZPATTERNS_POPULATION=1000 go test -v -timeout 2h -run FindingsOfPopulations ./patterns/heat
//	AZPATTERNS_POPULATION=5000 go test -v -timeout 2h -run 'FindingsOfPopulations/(telemetry|shop)' ./patterns/heat
type Kind string

const (
	AppendOnly     Kind = "append-only keys"                   // precision 96 %, recall 100 %
	PrependOnly    Kind = "prepend-only keys"                  // precision 100 %, recall 100 %
	HotPartition   Kind = "one hot partition"                  // precision 100 %, recall 91 %
	HotRow         Kind = "one hot row"                        // precision 100 %, recall 100 %
	TableScans     Kind = "table scans"                        // precision 88 %, recall 99 %
	PartitionScans Kind = "partition scans that return little" // precision 100 %, recall 100 %
	Batchable      Kind = "requests that could be batched"     // precision 97 %, recall 93 %
	LargeRetries   Kind = "retries of large writes"            // precision 100 %, recall 100 %
	EmptyPolls     Kind = "polling of an empty queue"          // precision 100 %, recall 92 %
	Churn          Kind = "connection churn"                   // precision 100 %, recall 99 %
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
// A finding needs a load that is throttled, or a share of the requests that doubles them: a time-ordered
// log at one entity per second, or an export every night, is fine.
func (s *Snapshot) Findings() []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(s.Resources)) {
		t := tally{s.Resources[name], s, name}
		spread := false
		for _, r := range rules {
			if !strings.HasPrefix(name, r.service) || r.service == "" && name != "" || r.spread && spread {
				continue
			}
			if f := r.find(&t); f.Observed != "" {
				f.Kind, f.Reason, f.Remedy = r.kind, r.reason, r.remedy
				if f.Resource == "" && name != "" {
					f.Resource = resourceName(name)
				}
				found = append(found, f)
				spread = spread || r.spread
			}
		}
	}
	return found
}

// tally are the counters of one resource.
type tally struct {
	Counters
	s    *Snapshot
	name string
}

// rules are in the order of their findings.
var rules = []struct {
	kind           Kind
	service        string // "t", "q", or "" for the account
	spread         bool   // about how the load is spread: only the first applies to a table
	find           func(t *tally) Finding
	reason, remedy string
}{
	{AppendOnly, "t", true, func(t *tally) Finding { return t.ordered(t.Ascending, t.LastChanged, "last") }, oneServer, spreadKeys},
	{PrependOnly, "t", true, func(t *tally) Finding { return t.ordered(t.Descending, t.FirstChanged, "first") }, oneServer, spreadKeys},
	{HotRow, "t", true, (*tally).hotRow,
		"One server holds the row, and concurrent changes of one row conflict on its ETag.",
		"Keep the row in a cache if it is read; count in several rows and add them up (MergeSpec.Add of patterns.ViewOf, patterns/dataseries) if it is written."},
	{HotPartition, "t", true, (*tally).hotPartition,
		"One server holds a partition; beyond its target the service answers 503, and the SDK waits and repeats.",
		"Divide the partition with keys.Spread (examples/hotpartition), or choose a partition key with more values."},
	{TableScans, "t", false, (*tally).scans,
		"The service reads every row of the table, and each row read counts against the targets; a page ends at the boundary of a partition, so a scan takes many requests.",
		"Add an index (patterns/secondaryindex, patterns/indexentity), or put what the query knows into the partition key (package query explains a filter)."},
	{PartitionScans, "t", false, (*tally).filtered,
		"The service has no index on properties: it reads the whole partition, and rows that do not match count as well.",
		"Put the property into the row key (keys.Layout, patterns/compoundkey), or keep copies under another row key (patterns/secondaryindex)."},
	{Batchable, "t", true, (*tally).batches,
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

// observed returns a finding if it is one. It formats the values with [number].
func observed(found bool, figures []Figure, format string, values ...float64) Finding {
	if !found {
		return Finding{}
	}
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

// ordered finds keys that grow or shrink with time. It needs the load of a busy partition, nine of ten
// writes at the end, and an end that moves.
func (t *tally) ordered(at, changes float64, end string) Finding {
	peak, ends := t.s.busiest(t.name, writes), share(at, t.Written)
	return observed(busy(peak, t.s.busiest(t.name, throttled)) && changes >= 3 && ends >= 0.9,
		[]Figure{{"share", ends}, {"entities/s", peak}, {"changes", changes}},
		"%s%% of %s written entities went to the "+end+" partition, or those of the last two seconds; it changed %s times; %s/s in the busiest minute.",
		100*ends, t.Written, changes, peak)
}

// hottest returns the busiest of a list that belongs to the resource.
func (t *tally) hottest(list []Hot) Hot {
	for _, h := range list {
		resource := resourceOf(h.Key)
		_, known := t.s.Resources[resource]
		if h.Peak > h.Uncertain && (resource == t.name || t.name == others && !known) {
			return h
		}
	}
	return Hot{}
}

// hotPartition finds a busy partition.
func (t *tally) hotPartition() Finding {
	p := t.hottest(t.s.Partitions)
	peak := p.PerSecond()
	f := observed(busy(peak, p.Throttled),
		[]Figure{{"entities/s", peak}, {"share of the target", peak / PartitionTarget}, {"throttled", p.Throttled}},
		"%s entities/s in the busiest minute, %s%% of the target of a partition; %s requests were throttled.",
		peak, p.Share(), p.Throttled)
	f.Resource, f.Key = t.s.labels(p.Key)
	return f
}

// hotRow finds a row with half of the load of a hot partition.
func (t *tally) hotRow() Finding {
	f, p, r := t.hotPartition(), t.hottest(t.s.Partitions), t.hottest(t.s.Rows)
	if f.Observed == "" || r.Peak < p.Peak/2 || !strings.HasPrefix(r.Key, p.Key+"\x00") {
		return Finding{}
	}
	_, f.Key = t.s.labels(r.Key)
	f.Figures[0].Value = r.PerSecond()
	f.Observed = number(100*min(r.Peak/p.Peak, 1)) + "% of the load of its partition is one row: " + f.Observed
	return f
}

// leastExcess is how many requests in vain are worth a finding.
const leastExcess = 5

// excess reports whether queries make more than half of the requests of the table in excess of one for
// each, or for 250 rows: in the best layout there would be half as many requests. It does not matter how many
// queries these are, because one may read the whole table.
func (t *tally) excess(queries, pages, rows float64) bool {
	excess := pages - max(queries, rows/250)
	return excess >= leastExcess && excess > t.Transactions/2
}

// scans finds queries without a partition key. A scan that returns what it reads is fine.
func (t *tally) scans() Finding {
	return observed(t.excess(t.Scans, t.ScanPages, t.ScanRows),
		[]Figure{{"scans", t.Scans}, {"requests", t.ScanPages}, {"rows", t.ScanRows}},
		"%s queries had no partition key: %s requests, %s%% of all of the table, for %s rows.", t.Scans, t.ScanPages, 100*share(t.ScanPages, t.Transactions), t.ScanRows)
}

// filtered finds partition scans that return little.
func (t *tally) filtered() Finding {
	n := t.Filtered
	pages, rows := share(t.FilteredPages, n), share(t.FilteredRows, n)
	return observed(t.excess(n, t.FilteredPages, t.FilteredRows),
		[]Figure{{"queries", n}, {"rows per query", rows}, {"requests per query", pages}},
		"%s queries tested a property of all rows of a partition: %s rows each, from %s requests.", n, rows, pages)
}

// batches finds single writes of different rows of one partition, each sent when another had just
// ended: by one loop. Independent writers do not wait for each other.
func (t *tally) batches() Finding {
	of := share(t.Batchable, t.Single)
	return observed(t.Batchable >= 100 && t.Batchable >= 0.55*t.Transactions, []Figure{{"writes", t.Batchable}, {"share", of}},
		"%s of %s single writes were sent when one of another row of the same partition had just ended.", t.Batchable, t.Single)
}

// largeRetries finds large requests of which half have to be sent again.
func (t *tally) largeRetries() Finding {
	of := share(t.LargeFailed, t.Large)
	return observed(t.LargeFailed >= 5 && of >= 0.5, []Figure{{"failed", t.LargeFailed}, {"share", of}, {"bytes", t.LargeResent}},
		"%s of %s writes of 256 KiB or more failed and were sent again: %s MiB.", t.LargeFailed, t.Large, t.LargeResent/(1<<20))
}

// emptyPolls finds a queue whose polls are more than its other requests and two a second. The best consumers
// poll once a second, all together, and need no more polls than messages.
func (t *tally) emptyPolls() Finding {
	seconds := min(60*t.PollMinutes, t.s.Taken.Sub(t.s.Since).Seconds()) // PollMinutes are those of all processes
	return observed(t.EmptyPolls >= 100 && 2*t.Polls-t.Transactions >= 2*seconds,
		[]Figure{{"empty polls", t.EmptyPolls}, {"per minute", share(t.EmptyPolls, t.PollMinutes)}},
		"%s of %s polls found no message, %s per minute.", t.EmptyPolls, t.Polls, share(t.EmptyPolls, t.PollMinutes))
}

// churn finds that half of the observed requests opened a connection.
func (t *tally) churn() Finding {
	return observed(t.Traced >= 5 && t.Dialed >= t.Traced/2,
		[]Figure{{"observed", t.Traced}, {"new connections", t.Dialed}},
		"%s of %s observed requests opened a new connection.", t.Dialed, t.Traced)
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
