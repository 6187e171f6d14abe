package patterns_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// inserts are n operations, dealt out over the partitions.
func inserts(n int, partitions ...string) iter.Seq[patterns.Op[counter]] {
	return func(yield func(patterns.Op[counter]) bool) {
		for i := range n {
			v := counter{partitions[i%len(partitions)], fmt.Sprintf("%06d", i), int64(i)}
			if !yield(patterns.InsertOp(&v)) {
				return
			}
		}
	}
}

// rowsOf counts the rows in each partition.
func rowsOf(t testing.TB, table *patterns.Table[counter]) map[string]int {
	t.Helper()
	n := make(map[string]int)
	for item, err := range table.Query(t.Context(), everything, allowScan) {
		if err != nil {
			t.Fatal(err)
		}
		n[item.Key.Partition]++
	}
	return n
}

func TestBulkPacksFullTransactions(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			n, partitions, requests int
		}{{0, 1, 0}, {1, 1, 1}, {100, 1, 1}, {101, 1, 2}, {250, 3, 3}, {1000, 7, 14}, {20, 20, 20}} {
			table := newTable[counter](t, b.Table(t), nil)
			var names []string
			want := make(map[string]int)
			for i := range c.partitions {
				names = append(names, fmt.Sprint("p", i))
			}
			for i := range c.n {
				want[names[i%len(names)]]++
			}
			b.ResetRequests()
			var last patterns.BulkProgress
			report, err := table.Bulk(t.Context(), inserts(c.n, names...), &patterns.BulkOptions{Progress: func(p patterns.BulkProgress) {
				if p.Taken < last.Taken || p.Applied < last.Applied || p.Requests < last.Requests || p.Applied+p.Failed > p.Taken {
					t.Errorf("progress went from %+v to %+v", last, p)
				}
				last = p
			}})
			if err != nil || report.Taken != c.n || report.Applied != c.n || report.Failed != 0 || report.Requests != c.requests {
				t.Errorf("%+v: got %+v, %v", c, report, err)
			}
			if report.BulkProgress != last {
				t.Errorf("%+v: the last progress is %+v, the report %+v", c, last, report.BulkProgress)
			}
			cost(t, b, c.requests)
			if got := rowsOf(t, table); !maps.Equal(got, want) {
				t.Errorf("%+v: rows %v", c, got)
			}
		}
	})
}

func TestBulkFillsTransactionsOfManyPartitionsAtOnce(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct{ n, partitions, atMost int }{
			{20_000, 100, 200},    // all fit in what may wait
			{60_000, 2000, 4_000}, // they do not: about half a partition waits
		} {
			if c.n > 50_000 && !b.Accelerated {
				continue // the same, and slow
			}
			var names []string
			for i := range c.partitions {
				names = append(names, fmt.Sprint("p", i))
			}
			table := newTable[counter](t, b.Table(t), nil)
			report, err := table.Bulk(t.Context(), inserts(c.n, names...), nil)
			if err != nil || report.Applied != c.n || report.Requests > c.atMost {
				t.Errorf("%+v: %+v, %v", c, report.BulkProgress, err)
			}
		}
	})
}

func TestBulkKeepsTheOrderWithinAPartition(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		const writes = 300
		ops := func(yield func(patterns.Op[counter]) bool) {
			for i := range writes {
				for p := range 3 { // the same row again and again: the last write must win
					v := counter{fmt.Sprint("p", p), "row", int64(i)}
					if !yield(patterns.UpsertOp(&v, patterns.Replace)) {
						return
					}
				}
			}
		}
		report, err := table.Bulk(t.Context(), ops, nil)
		if err != nil || report.Applied != 3*writes || report.Requests != 3*writes {
			t.Fatalf("%+v, %v", report, err)
		}
		for p := range 3 {
			if got := get(t, table, keys.Key{Partition: fmt.Sprint("p", p), Row: "row"}).Value.N; got != writes-1 {
				t.Errorf("partition %d ends with write %d", p, got)
			}
		}
	})
}

func TestBulkIsolatesWhatFails(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		insert(t, table, counter{"p", "000050", -1})
		insert(t, table, counter{"p", "000077", -1})
		b.ResetRequests()
		quote := counter{"p", "it's", 1}
		bad := counter{"p", "SECRET/", 1}
		ops := func(yield func(patterns.Op[counter]) bool) {
			for op := range inserts(100, "p") {
				yield(op)
			}
			yield(patterns.InsertOp(&bad))                                // 100: never sent
			yield(patterns.UpsertOp(&quote, patterns.Replace))            // 101: aztables cannot address it
			yield(patterns.DeleteOp[counter](keys.Key{Row: "no"}, ""))    // 102: nor this; and it is missing
			yield(patterns.InsertOp(&counter{"p", "last", 1}))            // 103
			yield(patterns.ReplaceOp(patterns.Item[counter]{Key: tally})) // 104: no ETag
			yield(patterns.InsertOp[counter](nil))                        // 105
		}
		report, err := table.Bulk(t.Context(), ops, nil)
		want := map[int]error{50: patterns.ErrExists, 77: patterns.ErrExists, 100: patterns.ErrBadKey, 104: patterns.ErrBadETag, 105: patterns.ErrNil}
		requests := 3 + 2 // two fail, then what is left; the last ones; the missing row
		if b.Accelerated {
			want[102] = patterns.ErrNotFound
		} else {
			want[101], want[102] = patterns.ErrNeedsAccelerate, patterns.ErrNeedsAccelerate
			requests--
		}
		if err == nil || report.Taken != 106 || report.Failed != len(want) || report.Applied != 106-len(want) || report.Requests != requests {
			t.Errorf("%+v, %v", report, err)
		}
		cost(t, b, requests)
		for _, f := range report.Failures {
			if !errors.Is(f.Err, want[f.Index]) || want[f.Index] == nil {
				t.Errorf("operation %d: %v, want %v", f.Index, f.Err, want[f.Index])
			}
			delete(want, f.Index)
			silent(t, f.Err, "SECRET")
		}
		if len(want) > 0 {
			t.Errorf("not reported: %v", want)
		}
		silent(t, err, "SECRET")
		n := 100 + 1 // with the two that were there
		if b.Accelerated {
			n++
		}
		if got := rowsOf(t, table)["p"]; got != n {
			t.Errorf("%d rows, want %d", got, n)
		}
	})
}

func TestBulkStopsWhereTheTableIsMissing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := newTable[counter](t, b.Service(t).NewClient(harness.UniqueName()), nil)
		report, err := table.Bulk(t.Context(), inserts(100, "p"), nil)
		wantError(t, err, patterns.ErrTableNotFound)
		if report.Failed != 100 || report.Requests != 1 {
			t.Errorf("%+v", report.BulkProgress)
		}
		cost(t, b, 1)
	})
}

// Through aztables texts grow on their way, more than could be foreseen.
func TestBulkDividesWhatTheServiceFindsTooLarge(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		const n = 90
		var ops []patterns.Op[person]
		for i := range n {
			v := somebody(fmt.Sprint(i))
			v.Note = strings.Repeat("<", 30_000)
			ops = append(ops, patterns.InsertOp(&v))
		}
		report, err := table.Bulk(t.Context(), slices.Values(ops), nil)
		if err != nil || report.Applied != n {
			t.Errorf("%+v, %v", report.BulkProgress, err)
		}
		cost(t, b, report.Requests)
		if got := get(t, table, somebody("89").key()).Value.Note; got != strings.Repeat("<", 30_000) {
			t.Error("the text has changed")
		}
	})
}
