package patterns_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func TestOptionsMayBeAsLargeAsAnIntIs(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		report, err := table.Bulk(t.Context(), inserts(10, "p"), &patterns.BulkOptions{Parallel: math.MaxInt})
		if err != nil || report.Applied != 10 {
			t.Fatalf("%+v, %v", report, err)
		}
		// The first ones named do not exist, so that more are asked for step by step.
		some := query.And(partitionIs("p"), query.RowKey.In("0", "00", "000", "0000", "00000", "000003", "000005", "000007"))
		for limit, want := range map[int]int{2: 2, math.MaxInt: 3} {
			got := collect(t, table.Query(t.Context(), some, &patterns.QueryOptions{Limit: limit, Parallel: math.MaxInt}))
			if len(got) != want {
				t.Errorf("%d rows at most: %d", limit, len(got))
			}
		}
		page, err := table.Page(t.Context(), partitionIs("p"), "", &patterns.QueryOptions{Limit: math.MaxInt, Parallel: math.MaxInt})
		if err != nil || len(page.Items) != 10 {
			t.Errorf("a page of %d rows, %v", len(page.Items), err)
		}
		rows := 0
		for page, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.ScanOptions{PageSize: 1, Parallel: math.MaxInt}) {
			if err != nil {
				t.Fatal(err)
			}
			rows += len(page.Items)
		}
		if rows != 10 {
			t.Errorf("a scan of %d rows", rows)
		}
	})
}

// Buffers are sized by the rows before.
func TestOneLargeRowDoesNotMakeTheBuffersOfAllOthersLarge(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable(t, b.Table(t), &patterns.TableOptions[map[string]any]{Keyless: true})
		write := func(row string, v map[string]any) patterns.Op[map[string]any] {
			return patterns.UpsertOp(&v, patterns.Replace).At(keys.Key{Partition: "p", Row: row})
		}
		large := map[string]any{}
		for i := range 15 {
			large[fmt.Sprint("S", i)] = strings.Repeat("x", 32768)
		}
		if _, err := table.Do(t.Context(), write("large", large)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		batch := table.Batch()
		for i := range patterns.MaxBatchOps {
			batch.Add(write(fmt.Sprint(i), map[string]any{"N": 1}))
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("a transaction of small rows takes %d bytes", n)
		}
		if _, err := batch.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// The SDK's second try meets its own first one.
func TestDropIsDoneThoughItsReplyIsLost(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		b.Fault(fault.On("Table.DeleteTable").Nth(1).LoseReply())
		if err := table.Drop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := table.Drop(t.Context()); err != nil {
			t.Errorf("again: %v", err)
		}
		_, err := table.Get(t.Context(), tally)
		wantError(t, err, patterns.ErrTableNotFound)
	})
}
