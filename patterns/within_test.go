package patterns_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestATableWithinAPartitionWritesNoOther(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		whole := harness.NewTable[counter](t, b.Table(t), nil)
		other := harness.Insert(t, whole, counter{Name: "other", Shard: "0"})
		table := whole.Within("hits")
		row, wrong := counter{Name: "hits", Shard: "0"}, counter{Name: "other", Shard: "1"}
		ctx := t.Context()
		b.ResetRequests()
		for name, err := range map[string]error{
			"insert":  harness.ErrorOf(table.Insert(ctx, &wrong)),
			"upsert":  harness.ErrorOf(table.Upsert(ctx, &wrong, patterns.Replace)),
			"replace": harness.ErrorOf(table.Replace(ctx, other)),
			"merge":   harness.ErrorOf(table.Merge(ctx, other)),
			"delete":  table.Delete(ctx, other.Key, ""),
			"at":      harness.ErrorOf(table.Do(ctx, patterns.InsertOp(&row).At(keys.Key{Partition: "other", Row: "2"}))),
			"update":  harness.ErrorOf(table.Update(ctx, other.Key, addOne)),
			"batch":   harness.ErrorOf(table.Batch().Insert(&wrong).Commit(ctx)),
			"within":  harness.ErrorOf(table.Within("other").Insert(ctx, &wrong)),
			"neither": harness.ErrorOf(table.Within("other").Insert(ctx, &row)),
			"add to":  harness.ErrorOf(patterns.AddTo(table.Batch(), whole, patterns.InsertOp(&wrong)).Commit(ctx)),
		} {
			if !errors.Is(err, patterns.ErrMixedPartitions) {
				t.Errorf("%s: %v", name, err)
			}
		}
		b.WantRequestCount(t, 0)
		report, err := table.Bulk(ctx, slices.Values([]patterns.Op[counter]{patterns.InsertOp(&row), patterns.InsertOp(&wrong)}), nil)
		if !errors.Is(err, patterns.ErrMixedPartitions) || report.Applied != 1 || len(report.Failures) != 1 || report.Failures[0].Index != 1 {
			t.Errorf("the report is %+v, %v", report, err)
		}
		b.WantRequests(t, map[string]int{"Table.Batch": 1})
		harness.Must(table.Update(ctx, tally, addOne))(t)
		if got := harness.Get(t, table, other.Key); got.ETag != other.ETag { // reads are not restricted
			t.Errorf("the other row is now %+v", got)
		}
		harness.Must(whole.Insert(ctx, &wrong))(t) // the table itself is not restricted
	})
}

func TestAStoreWithinAPartitionWritesNoOther(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		whole := harness.NewStore[counter](t, b.Table(t), nil)
		other := harness.Must(whole.Insert(t.Context(), &counter{Name: "other", Shard: "0"}))(t)
		store := whole.Within("hits")
		row, wrong := counter{Name: "hits", Shard: "0"}, counter{Name: "other", Shard: "1"}
		ctx := t.Context()
		b.ResetRequests()
		for name, err := range map[string]error{
			"insert":      harness.ErrorOf(store.Insert(ctx, &wrong)),
			"put":         harness.ErrorOf(store.Put(ctx, &wrong)),
			"put item":    harness.ErrorOf(store.PutItem(ctx, other, &other.Value)),
			"update":      harness.ErrorOf(store.Update(ctx, other.Key, addOne)),
			"delete":      store.Delete(ctx, other.Key),
			"delete item": store.DeleteItem(ctx, other),
			"repair":      store.Repair(ctx, other.Key),
			"within":      harness.ErrorOf(store.Within("other").Put(ctx, &wrong)),
			"batch":       harness.ErrorOf(store.Batch().Insert(&wrong).Commit(ctx)),
			"table":       harness.ErrorOf(store.Table().Insert(ctx, &wrong)),
		} {
			if !errors.Is(err, patterns.ErrMixedPartitions) {
				t.Errorf("%s: %v", name, err)
			}
		}
		b.WantRequestCount(t, 0)
		report, err := store.Bulk(ctx, slices.Values([]patterns.StoreOp[counter]{patterns.InsertEntity(&row), patterns.InsertEntity(&wrong)}), nil)
		if !errors.Is(err, patterns.ErrMixedPartitions) || report.Applied != 1 || len(report.Failures) != 1 || report.Failures[0].Index != 1 {
			t.Errorf("the report is %+v, %v", report, err)
		}
		harness.Must(store.Update(ctx, tally, addOne))(t)
		harness.Must(whole.Insert(ctx, &wrong))(t) // the Store itself is not restricted
	})
}

func TestRowsOfViewsElsewhereFollowTheEntitiesOfAPartition(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := new(harness.OutboxQueue)
		byShard := patterns.NewView("byShard", patterns.Shape{Remote: true}, func(c *counter) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "shard_" + c.Shard, Row: c.Name}, patterns.CopySpec{})}, nil
		})
		whole := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[counter]{Views: []patterns.View[counter]{byShard}, Outbox: queue})
		store := whole.Within("hits")
		ctx := t.Context()
		harness.Must(store.Insert(ctx, &counter{Name: "hits", Shard: "0"}))(t)
		harness.Get(t, whole.Table(), keys.Key{Partition: "shard_0", Row: "hits"})
		harness.NoError(t, store.Delete(ctx, tally))
		if rows := harness.Rows(t, whole.Table().Client()); len(rows) != 0 {
			t.Errorf("%d rows are left", len(rows))
		}
	})
}
