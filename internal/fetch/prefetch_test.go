package fetch

import (
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

func TestRunReturnsTheRowsOfAllReadsInOrder(t *testing.T) {
	r := newReading(t, 3, 4)
	points := query.And(query.PartitionKey.In("p0", "p2"), query.RowKey.In("r03", "r01", "none"))
	for _, c := range []struct {
		what     string
		f        query.Filter
		o        types.QueryOptions
		rows     int
		requests int
	}{
		{"one partition", query.PartitionKey.Eq("p1"), types.QueryOptions{}, 4, 1},
		{"one partition by pages", query.PartitionKey.Eq("p1"), types.QueryOptions{PageSize: 3}, 4, 2},
		{"two partitions", query.PartitionKey.In("p2", "p0"), types.QueryOptions{}, 8, 2},
		{"points", points, types.QueryOptions{}, 4, 6},
		{"points with a selection", points, types.QueryOptions{Select: []string{}}, 4, 6},
		{"a limit within a page", query.PartitionKey.In("p0", "p1", "p2"), types.QueryOptions{Limit: 6, PageSize: 4, Parallel: 1}, 6, 2},
		{"a limit of points", points, types.QueryOptions{Limit: 1, Parallel: 1}, 1, 2},
	} {
		got := r.keysOf(t, r.plan(t, c.f, &c.o))
		if !slices.IsSortedFunc(got, keys.Key.Compare) || len(got) != c.rows {
			t.Errorf("%s: %q, want %d", c.what, got, c.rows)
		}
		r.wantRequests(t, c.requests)
	}
}

func TestRunEndsWhenYieldReturnsFalse(t *testing.T) {
	r := newReading(t, 1, 10)
	calls := 0
	r.plan(t, query.PartitionKey.Eq("p0"), &types.QueryOptions{PageSize: 2}).Run(t.Context(), r.decoder, func(Rows, error) bool {
		calls++
		return false
	})
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
	r.wantRequests(t, 1)
}

func TestRunReturnsTheErrorLast(t *testing.T) {
	r := newReading(t, 2, 3)
	r.account.Fault(storagetest.On("Table.Query").Nth(2).Status(403, "AuthorizationFailure"))
	var calls []string
	r.plan(t, query.PartitionKey.In("p0", "p1"), &types.QueryOptions{Parallel: 1}).Run(t.Context(), r.decoder, func(rows Rows, err error) bool {
		if err != nil {
			calls = append(calls, "error")
		} else {
			calls = append(calls, "rows")
		}
		return true
	})
	if !slices.Equal(calls, []string{"rows", "error"}) {
		t.Errorf("calls %q", calls)
	}
}
