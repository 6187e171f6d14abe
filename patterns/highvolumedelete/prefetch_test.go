package highvolumedelete_test

import (
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestAQueryWithALimitReadsFewTables(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		days := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
		fill(t, s, days, "a", "b")
		fill(t, s, []int{1}, "oldest")
		for _, c := range []struct {
			what                  string
			f                     query.Filter
			limit, requests, rows int
		}{
			{"the newest one", filterAll, 1, 1, 1},
			{"two", filterAll, 2, 1, 2},
			{"three", filterAll, 3, 2, 3},
			{"six", filterAll, 6, 3, 6},
			{"more than there are", filterAll, 100, 12, 25},
			{"the oldest one", query.PartitionKey.Eq("oldest"), 1, 12, 1},
		} {
			b.ResetRequests()
			o := scan(true)
			o.Limit = c.limit
			got := read(t, s.Query(t.Context(), day(1), day(31), c.f, o))
			assert.Equal(t, len(got), c.rows, c.what, got)
			b.WantRequests(t, map[string]int{"Table.ListTables": 1, "Table.Query": c.requests})
		}
	})
}

// Until the limit is reached, 1, 2, 4 and 8 tables are read concurrently. The reply of the table
// with the row is delayed until all requests that do not wait for it were sent.
func TestPrefetchGrowsFromTableToTable(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, "a")
		counted := func(d int, q iter.Seq2[patterns.Item[login], error], requests int) {
			t.Helper()
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Query").Resource(fmt.Sprintf("Logins201408%02d", d)).Delay(time.Minute))
			b.ResetRequests()
			for item, err := range q {
				assert.NoError(t, err)
				assert.Equal(t, item.Value.At.Day(), d)
				break
			}
			b.WantRequests(t, map[string]int{"Table.ListTables": 1, "Table.Query": requests})
		}
		for before, requests := range []int{1, 3, 6, 11, 12} {
			d, user := 12-before, fmt.Sprint("rare", before)
			fill(t, s, []int{d}, user)
			synctest.Test(t, func(t *testing.T) {
				o := scan(true)
				o.Limit = 1
				counted(d, s.Query(t.Context(), day(1), day(31), query.PartitionKey.Eq(user), o), requests)
			})
		}
		synctest.Test(t, func(t *testing.T) {
			o := scan(false)
			o.Parallel = 3
			counted(1, s.Query(t.Context(), day(1), day(31), filterAll, o), 3)
		})
	})
}

func TestParallelLimitsThePrefetch(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3, 4, 5, 6, 7, 8}, "a")
		b.Fault(storagetest.On("Table.Query").Delay(time.Second))
		for parallel, took := range map[int]time.Duration{0: time.Second, 1: 8 * time.Second, 4: 2 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				o := scan(false)
				o.Parallel = parallel
				start := time.Now()
				assert.Equal(t, len(read(t, s.Query(t.Context(), day(1), day(9), filterAll, o))), 8, "rows")
				assert.Equal(t, time.Since(start), took, "parallel", parallel)
			})
		}
	})
}

// A prefetch requests all rows that are wanted at that time. Rows that no longer fit into the
// page are left to the next one.
func TestAPageNeverContainsMoreThanItsLimit(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		insert(t, s, "z", day(1))
		insert(t, s, "a", day(2))
		insert(t, s, "a", day(3))
		insert(t, s, "a", day(3).Add(time.Hour))
		o := scan(false)
		o.Limit = 2
		// Which page contains a row depends on the progress of the prefetch.
		cursor, pages := "", 0
		var got []string
		for ; pages == 0 || cursor != "" && pages < 4; pages++ {
			p := assert.Must(s.Page(t.Context(), day(1), day(9), query.PartitionKey.Eq("a"), cursor, o))(t)
			if len(p.Items) > o.Limit {
				t.Errorf("page %d contains %d rows", pages, len(p.Items))
			}
			for _, item := range p.Items {
				got = append(got, label(item))
			}
			cursor = p.Cursor
		}
		want(t, "all pages", got, "a 02 00", "a 03 00", "a 03 01")
		if cursor != "" || pages > 3 {
			t.Errorf("%d pages, and the cursor %q", pages, cursor)
		}
	})
}
