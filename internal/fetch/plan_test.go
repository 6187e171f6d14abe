package fetch_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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

func parsed(t testing.TB, text string) query.Filter {
	t.Helper()
	f := assert.Must(query.Parse(text))(t)
	return f
}

func texts(format string, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

// refusal returns the error of a query that must yield nothing else.
func refusal(t testing.TB, table *patterns.Table[harness.Person], f query.Filter, opts *patterns.QueryOptions) error {
	t.Helper()
	var got error
	pairs := 0
	for _, err := range table.Query(t.Context(), f, opts) {
		pairs++
		got = err
	}
	if pairs != 1 || got == nil {
		t.Fatalf("%d pairs, error %v", pairs, got)
	}
	_, err := table.Page(t.Context(), f, "", opts)
	if err == nil || err.Error() != got.Error() {
		t.Errorf("Page returns %v, Query %v", err, got)
	}
	return got
}

func TestATableScanIsRefusedWithItsPlan(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		harness.Insert(t, table, harness.NewPerson("ann"))
		b.ResetRequests()
		for f, class := range map[string]query.Class{
			"":                      query.TableScan,
			"Note eq 'secret'":      query.TableScan,
			"PartitionKey ge 'a'":   query.TableScan,
			"RowKey eq 'secret'":    query.TableScan,
			"not (RowKey lt 'nn')":  query.TableScan,
			"PartitionKey ne 'sec'": query.TableScan,
		} {
			err := refusal(t, table, parsed(t, f), nil)
			assert.WantError(t, err, query.ErrScan)
			var scan *query.ScanError
			if !errors.As(err, &scan) || scan.Plan.Class != class || scan.Allow != query.PartitionRange || len(scan.Plan.Warnings) == 0 {
				t.Errorf("%s: got %v", f, err)
			}
			assert.WantHidden(t, err, "secret")
		}
		b.WantRequestCount(t, 0)
		assert.All(t, table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}))
		b.WantRequestCount(t, 1)
	})
}

func TestAllowIsTheMostExpensiveClassPermitted(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		harness.Insert(t, table, harness.NewPerson("ann"))
		filters := []struct {
			class query.Class
			text  string
		}{
			{query.Point, "PartitionKey eq 'sales' and RowKey eq 'ann'"},
			{query.RowRange, "PartitionKey eq 'sales' and RowKey ge 'a'"},
			{query.PartitionScan, "PartitionKey eq 'sales'"},
			{query.PartitionRange, "PartitionKey ge 's' and PartitionKey lt 't'"},
			{query.TableScan, "Age eq 42"},
		}
		for _, f := range filters {
			for _, allow := range []query.Class{0, query.Point, query.RowRange, query.PartitionScan, query.PartitionRange, query.TableScan} {
				limit := allow
				if allow == 0 {
					limit = query.PartitionRange
				}
				opts := &patterns.QueryOptions{Allow: allow}
				if f.class <= limit {
					assert.Equal(t, len(assert.All(t, table.Query(t.Context(), parsed(t, f.text), opts))), 1, f.text, "rows")
				} else {
					assert.WantError(t, refusal(t, table, parsed(t, f.text), opts), query.ErrScan)
				}
			}
		}
	})
}

func TestAnInvalidFilterSendsNothing(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		many := make([]query.Filter, query.MaxComparisons)
		for i := range many {
			many[i] = query.Prop("Age").Ne(int32(i))
		}
		in := query.PartitionKey.Eq("sales")
		for what, f := range map[string]query.Filter{
			"an unknown name":        query.And(in, query.Prop("age").Eq(int32(1))),
			"another type":           query.And(in, query.Prop("Age").Eq(1)),
			"an Int64 without L":     query.And(in, query.Prop("Badge").Eq(int32(1))),
			"text for a time":        query.And(in, query.Prop("Hired").Ge("2020-01-01")),
			"a number for a key":     query.PartitionKey.Eq(int32(1)),
			"a broken value":         query.And(in, query.Prop("Age").Eq(struct{}{})),
			"too many comparisons":   query.And(append(many, in)...),
			"an unknown name in not": query.And(in, query.Not(query.Prop("Nope").Eq(true))),
		} {
			if err := refusal(t, table, f, nil); errors.Is(err, query.ErrScan) {
				t.Errorf("%s: %v", what, err)
			}
		}
		assert.WantError(t, refusal(t, table, query.And(append(many, in)...), nil), patterns.ErrTooLarge)
		assert.WantError(t, refusal(t, table, in, &patterns.QueryOptions{PageSize: 1001}), patterns.ErrTooLarge)
		for name, opts := range map[string]patterns.QueryOptions{"PageSize": {PageSize: -1}, "Limit": {Limit: -1}, "Nope": {Select: []string{"Nope"}}} {
			if err := refusal(t, table, in, &opts); !strings.Contains(err.Error(), name) || strings.HasSuffix(err.Error(), " ") || errors.Is(err, patterns.ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
		}
		b.WantRequestCount(t, 0)
		assert.Equal(t, len(assert.All(t, table.Query(t.Context(), query.And(append(many[1:], in)...), nil))), 0, "rows")
		b.WantRequestCount(t, 1)
	})
}

func TestAPlanPredictsTheNumberOfRequests(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[mark](t, b.Table(t), nil)
		for _, p := range []string{"p1", "p2", "p3", "p4"} {
			batch := table.Batch()
			for i := range 50 {
				batch.Insert(&mark{p, fmt.Sprintf("%03d", i), int32(i)})
			}
			assert.NoError(t, assert.ErrorOf(batch.Commit(t.Context())))
		}
		p1 := query.PartitionKey.Eq("p1")
		for _, c := range []struct {
			what                 string
			f                    query.Filter
			opts                 patterns.QueryOptions
			rows, requests, upTo int
		}{
			{"a point", query.And(p1, query.RowKey.Eq("007")), patterns.QueryOptions{}, 1, 1, 1},
			{"a point that is not there", query.And(p1, query.RowKey.Eq("x")), patterns.QueryOptions{}, 0, 1, 1},
			{"500 points, of which 50 are there", query.And(p1, query.RowKey.In(texts("%03d", 500)...)), patterns.QueryOptions{}, 50, 500, 500},
			{"points named twice", query.And(p1, query.RowKey.In("001", "001", "002")), patterns.QueryOptions{}, 2, 2, 2},
			{"points with a limit", query.And(p1, query.RowKey.In(texts("%03d", 50)...)), patterns.QueryOptions{Limit: 10}, 10, 10, 10},
			{"a range", query.And(p1, query.RowKey.Prefix("00")), patterns.QueryOptions{}, 10, 1, 1},
			{"a range in pages", p1, patterns.QueryOptions{PageSize: 20}, 50, 3, 3},
			{"a range in full pages", p1, patterns.QueryOptions{PageSize: 25}, 50, 2, 3},
			{"a range with a limit", p1, patterns.QueryOptions{Limit: 7}, 7, 1, 1},
			{"a limit over pages", p1, patterns.QueryOptions{Limit: 25, PageSize: 10}, 25, 3, 3},
			{"four partitions", query.And(query.PartitionKey.In("p4", "p2", "p1", "p3"), query.RowKey.Lt("010")), patterns.QueryOptions{}, 40, 4, 4},
			{"a limit that the first of four fills", query.PartitionKey.In("p4", "p2", "p1", "p3"), patterns.QueryOptions{Limit: 50}, 50, 1, 1},
			{"a limit over two of four", query.PartitionKey.In("p4", "p2", "p1", "p3"), patterns.QueryOptions{Limit: 60}, 60, 2, 3},
			{"one at a time", query.PartitionKey.In("p4", "p2", "p1", "p3"), patterns.QueryOptions{Limit: 60, Parallel: 1}, 60, 2, 2},
		} {
			b.ResetRequests()
			items := assert.All(t, table.Query(t.Context(), c.f, &c.opts))
			if n := len(b.Requests()); len(items) != c.rows || n < c.requests || n > c.upTo {
				t.Errorf("%s: %d rows in %d requests, want %d in %d to %d", c.what, len(items), n, c.rows, c.requests, c.upTo)
			}
			if !slices.IsSortedFunc(items, func(a, b patterns.Item[mark]) int { return a.Key.Compare(b.Key) }) {
				t.Errorf("%s: not in order", c.what)
			}
			if plan := query.Explain(c.f); c.opts.Limit+c.opts.PageSize == 0 && plan.Requests != c.requests {
				t.Errorf("%s: the plan predicts %d requests", c.what, plan.Requests)
			}
		}
	})
}

// The synctest bubble fails if a goroutine remains.
func TestLeavingTheLoopEndsTheRead(t *testing.T) {
	for _, f := range []query.Filter{
		query.And(query.PartitionKey.Eq("p"), query.RowKey.In(texts("%08d", 300)...)),
		query.PartitionKey.In(texts("q%d", 100)...),
		query.PartitionKey.Eq("p"),
	} {
		for _, width := range []int{1, 8} {
			synctest.Test(t, func(t *testing.T) {
				acct := storagetest.Start(nil)
				table := harness.NewTable[mark](t, fillTable(t, acct, append(distributions["digits in one partition"](nil, 300), list(100, func(i int) keys.Key {
					return keys.Key{Partition: fmt.Sprintf("q%d", i), Row: "0"}
				})...)), nil)
				acct.Fault(storagetest.On("Table.*").Delay(time.Second))
				for _, err := range table.Query(t.Context(), f, &patterns.QueryOptions{PageSize: 10, Parallel: width}) {
					assert.NoError(t, err)
					break
				}
				sent := len(acct.Log())
				time.Sleep(time.Hour)
				if n := len(acct.Log()); n != sent || n > width {
					t.Errorf("%d requests, %d of them after the loop, with %d parallel", n, n-sent, width)
				}
			})
		}
	}
}

func TestReadOptionsMayBeMaxInt(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		batch := table.Batch()
		for i := range 10 {
			batch.Insert(&counter{"p", fmt.Sprintf("%06d", i), int64(i)})
		}
		assert.NoError(t, assert.ErrorOf(batch.Commit(t.Context())))
		// The first row keys do not exist, so more are read step by step.
		some := query.And(query.PartitionKey.Eq("p"), query.RowKey.In("0", "00", "000", "0000", "00000", "000003", "000005", "000007"))
		for limit, want := range map[int]int{2: 2, math.MaxInt: 3} {
			got := assert.All(t, table.Query(t.Context(), some, &patterns.QueryOptions{Limit: limit, Parallel: math.MaxInt}))
			assert.Equal(t, len(got), want, limit, "rows at most")
		}
		page, err := table.Page(t.Context(), query.PartitionKey.Eq("p"), "", &patterns.QueryOptions{Limit: math.MaxInt, Parallel: math.MaxInt})
		assert.NoError(t, err)
		assert.Equal(t, len(page.Items), 10)
		rows := 0
		for page, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 1, Parallel: math.MaxInt}) {
			assert.NoError(t, err)
			rows += len(page.Items)
		}
		assert.Equal(t, rows, 10, "a scan of", "rows")
	})
}
