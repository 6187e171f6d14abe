package txn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// upserts returns an operation for each row of partition p, with its index as the value.
func upserts(rows ...string) []patterns.Op[counter] {
	var ops []patterns.Op[counter]
	for i, row := range rows {
		ops = append(ops, patterns.UpsertOp(&counter{"p", row, int64(i)}, patterns.Replace))
	}
	return ops
}

func TestBulkWritesEveryRowThatCanBeWrittenAlone(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		harness.Insert(t, table, counter{"p", "x", 0})
		b.ResetRequests()
		ops := upserts("a", "b", "O'Brien", "c", "d", "O'Neill", "it's", "e")
		ops = append(ops, patterns.InsertOp(&counter{"p", "d'Or", 8}), patterns.DeleteOp[counter](keys.Key{Partition: "p", Row: "x"}, ""))
		report := assert.Must(table.Bulk(t.Context(), slices.Values(ops), nil))(t)
		// A transaction of a and b, O'Brien, c and d, O'Neill, it's, and the rest.
		want := []string{"Table.Batch", "Table.UpsertReplace", "Table.Batch", "Table.UpsertReplace", "Table.UpsertReplace", "Table.Batch"}
		if b.Accelerated {
			want = want[:1]
		}
		assert.Equal(t, report.Done, len(ops))
		assert.Equal(t, report.Requests, len(want))
		b.WantOps(t, want...)
		for i, row := range []string{"a", "b", "O'Brien", "c", "d", "O'Neill", "it's", "e", "d'Or"} {
			assert.Equal(t, harness.Get(t, table, keys.Key{Partition: "p", Row: row}).Value.N, int64(i), row, "want", i)
		}
		assert.Equal(t, rowsOf(t, table)["p"], 9, "rows, want 9")
	})
}

func TestBulkSendsOperationsWithAQuoteInOrder(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		var ops []patterns.Op[counter]
		for i := range 40 { // each row is written several times
			row := fmt.Sprint(i % 3)
			if i%2 == 0 {
				row = "'" + row
			}
			ops = append(ops, patterns.UpsertOp(&counter{"p", row, int64(i)}, patterns.Replace))
		}
		assert.NoError(t, assert.ErrorOf(table.Bulk(t.Context(), slices.Values(ops), nil)))
		for row, want := range map[string]int64{"'0": 36, "'1": 34, "'2": 38, "0": 39, "1": 37, "2": 35} {
			assert.Equal(t, harness.Get(t, table, keys.Key{Partition: "p", Row: row}).Value.N, want, row)
		}
	})
}

func TestBulkReportsAFailureOfARowThatIsSentAlone(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		ops := upserts("a", "b")
		ops = slices.Insert(ops, 1, patterns.DeleteOp[counter](keys.Key{Partition: "p", Row: "no row's"}, ""))
		report, err := table.Bulk(t.Context(), slices.Values(ops), nil)
		assert.WantError(t, err, patterns.ErrNotFound)
		if report.Done != 2 || len(report.Failures) != 1 || report.Failures[0].Index != 1 {
			t.Errorf("%+v", report)
		}
	})
}

func TestBulkFindsOutWhatBecameOfARowThatWasSentAlone(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		b.Fault(storagetest.On("Table.[BU]*").Nth(1).LoseReply())
		report, err := table.Bulk(t.Context(), slices.Values(upserts("it's")), nil)
		assert.NoError(t, err)
		assert.Equal(t, report.Done, 1)
	})
}

func TestBulkSendsNoOperationAloneAfterItsContextEnded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		harness.Insert(t, table, counter{"p", "0", 0})
		b.ResetRequests()
		ctx, cancel := context.WithCancel(t.Context())
		report, err := table.Bulk(ctx, slices.Values(upserts("'1", "'2", "'3")), &patterns.BulkOptions{
			Progress: func(patterns.Progress) { cancel() },
		})
		if b.Accelerated {
			assert.NoError(t, err)
			return
		}
		assert.WantError(t, err, context.Canceled)
		assert.Equal(t, report.Done, 1)
		assert.Equal(t, report.Failed, 2)
		b.WantRequestCount(t, 1)
	})
}

func TestAFailureOfBulkContainsTheOperationToRepeat(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		for _, row := range []string{"b", "o'b"} {
			harness.Insert(t, table, counter{"p", row, -1})
		}
		var ops []patterns.Op[counter]
		for i, row := range []string{"a", "b", "c", "o'a", "o'b"} {
			ops = append(ops, patterns.InsertOp(&counter{N: int64(i)}).At(keys.Key{Partition: "p", Row: row}))
		}
		ops = append(ops, patterns.DeleteOp[counter](keys.Key{Partition: "p", Row: "no"}, ""))
		report, err := table.Bulk(t.Context(), slices.Values(ops), nil)
		if err == nil || len(report.Failures) != 3 {
			t.Fatalf("%+v, %v", report, err)
		}
		for _, f := range report.Failures {
			// A repetition of the operation has the same result.
			if _, err := table.Do(t.Context(), f.Op); errors.Is(f.Err, patterns.ErrExists) != errors.Is(err, patterns.ErrExists) {
				t.Errorf("operation %d: %v, and again: %v", f.Index, f.Err, err)
			}
			if f.Index == 5 {
				continue
			}
			assert.NoError(t, table.Delete(t.Context(), f.Key, ""))
			item, err := table.Do(t.Context(), f.Op)
			if err != nil || item.Key != f.Key || item.Value.N != int64(f.Index) {
				t.Errorf("%+v, %v", item, err)
			}
		}
	})
}
