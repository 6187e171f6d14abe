package txn_test

import (
	"fmt"
	"iter"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// inserts returns n operations, distributed over the partitions.
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
	for item, err := range table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
		assert.NoError(t, err)
		n[item.Key.Partition]++
	}
	return n
}

func TestBulkPacksFullTransactions(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			n, partitions, requests int
		}{{0, 1, 0}, {1, 1, 1}, {100, 1, 1}, {101, 1, 2}, {250, 3, 3}, {1000, 7, 14}, {20, 20, 20}} {
			table := harness.NewTable[counter](t, b.Table(t), nil)
			var names []string
			want := make(map[string]int)
			for i := range c.partitions {
				names = append(names, fmt.Sprint("p", i))
			}
			for i := range c.n {
				want[names[i%len(names)]]++
			}
			b.ResetRequests()
			var last patterns.Progress
			report, err := table.Bulk(t.Context(), inserts(c.n, names...), &patterns.BulkOptions{Progress: func(p patterns.Progress) {
				if p.Found < last.Found || p.Done < last.Done || p.Requests < last.Requests || p.Done+p.Failed > p.Found {
					t.Errorf("progress went from %+v to %+v", last, p)
				}
				last = p
			}})
			if err != nil || report.Found != c.n || report.Done != c.n || report.Failed != 0 || report.Requests != c.requests {
				t.Errorf("%+v: got %+v, %v", c, report, err)
			}
			assert.Equal(t, report.Progress, last, c, "the last progress is", "the report")
			b.WantRequestCount(t, c.requests)
			assert.EqualMaps(t, rowsOf(t, table), want, c, "rows")
		}
	})
}

func TestBulkFillsTransactionsOfManyPartitions(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct{ n, partitions, atMost int }{
			{20_000, 100, 200},    // all fit in the queues
			{60_000, 2000, 4_000}, // they do not: about half of the operations of a partition wait
		} {
			if c.n > 50_000 && !b.Accelerated {
				continue // the same code, and slow
			}
			var names []string
			for i := range c.partitions {
				names = append(names, fmt.Sprint("p", i))
			}
			table := harness.NewTable[counter](t, b.Table(t), nil)
			report, err := table.Bulk(t.Context(), inserts(c.n, names...), nil)
			if err != nil || report.Done != c.n || report.Requests > c.atMost {
				t.Errorf("%+v: %+v, %v", c, report.Progress, err)
			}
		}
	})
}

func TestBulkKeepsTheOrderWithinAPartition(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		const writes = 300
		ops := func(yield func(patterns.Op[counter]) bool) {
			for i := range writes {
				for p := range 3 { // each write replaces the same row
					v := counter{fmt.Sprint("p", p), "row", int64(i)}
					if !yield(patterns.UpsertOp(&v, patterns.Replace)) {
						return
					}
				}
			}
		}
		report, err := table.Bulk(t.Context(), ops, nil)
		if err != nil || report.Done != 3*writes || report.Requests != 3*writes {
			t.Fatalf("%+v, %v", report, err)
		}
		for p := range 3 {
			if got := harness.Get(t, table, keys.Key{Partition: fmt.Sprint("p", p), Row: "row"}).Value.N; got != writes-1 {
				t.Errorf("partition %d ends with write %d", p, got)
			}
		}
	})
}

func TestBulkSendsPartitionsConcurrentlyAndEachInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct, name := harness.NewAccount(t)
		table := harness.NewTable[counter](t, acct.Tables().NewClient(name), nil)
		acct.Fault(storagetest.On("Table.Batch").Delay(time.Second))
		start := time.Now()
		report, err := table.Bulk(t.Context(), inserts(600, "p", "q"), nil)
		assert.NoError(t, err)
		assert.Equal(t, report.Requests, 6)
		// Three transactions of each partition, sequentially.
		assert.Equal(t, time.Since(start), 3*time.Second, "it took")
	})
}

func TestBulkOptionsMayBeMaxInt(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		report, err := table.Bulk(t.Context(), inserts(10, "p"), &patterns.BulkOptions{Parallel: math.MaxInt})
		assert.NoError(t, err)
		assert.Equal(assert.Now(t), report.Done, 10)
	})
}
