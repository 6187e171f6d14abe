package patterns_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
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
			"insert":  assert.ErrorOf(table.Insert(ctx, &wrong)),
			"upsert":  assert.ErrorOf(table.Upsert(ctx, &wrong, patterns.Replace)),
			"replace": assert.ErrorOf(table.Replace(ctx, other)),
			"merge":   assert.ErrorOf(table.Merge(ctx, other)),
			"delete":  table.Delete(ctx, other.Key, ""),
			"at":      assert.ErrorOf(table.Do(ctx, patterns.InsertOp(&row).At(keys.Key{Partition: "other", Row: "2"}))),
			"update":  assert.ErrorOf(table.Update(ctx, other.Key, addOne)),
			"batch":   assert.ErrorOf(table.Batch().Insert(&wrong).Commit(ctx)),
			"within":  assert.ErrorOf(table.Within("other").Insert(ctx, &wrong)),
			"neither": assert.ErrorOf(table.Within("other").Insert(ctx, &row)),
			"add to":  assert.ErrorOf(patterns.AddTo(table.Batch(), whole, patterns.InsertOp(&wrong)).Commit(ctx)),
		} {
			assert.WantError(t, err, patterns.ErrMixedPartitions, name)
		}
		b.WantRequestCount(t, 0)
		report, err := table.Bulk(ctx, slices.Values([]patterns.Op[counter]{patterns.InsertOp(&row), patterns.InsertOp(&wrong)}), nil)
		if !errors.Is(err, patterns.ErrMixedPartitions) || report.Done != 1 || len(report.Failures) != 1 || report.Failures[0].Index != 1 {
			t.Errorf("the report is %+v, %v", report, err)
		}
		b.WantRequests(t, map[string]int{"Table.Batch": 1})
		assert.Must(table.Update(ctx, tally, addOne))(t)
		if got := harness.Get(t, table, other.Key); got.ETag != other.ETag { // reads are not restricted
			t.Errorf("the other row is now %+v", got)
		}
		assert.Must(whole.Insert(ctx, &wrong))(t) // the table itself is not restricted
	})
}

func TestAStoreWithinAPartitionWritesNoOther(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		whole := harness.NewStore[counter](t, b.Table(t), nil)
		other := assert.Must(whole.Insert(t.Context(), &counter{Name: "other", Shard: "0"}))(t)
		store := whole.Within("hits")
		row, wrong := counter{Name: "hits", Shard: "0"}, counter{Name: "other", Shard: "1"}
		ctx := t.Context()
		b.ResetRequests()
		for name, err := range map[string]error{
			"insert":      assert.ErrorOf(store.Insert(ctx, &wrong)),
			"put":         assert.ErrorOf(store.Put(ctx, &wrong)),
			"put item":    assert.ErrorOf(store.PutItem(ctx, other, &other.Value)),
			"update":      assert.ErrorOf(store.Update(ctx, other.Key, addOne)),
			"delete":      store.Delete(ctx, other.Key),
			"delete item": store.DeleteItem(ctx, other),
			"repair":      store.Repair(ctx, other.Key),
			"within":      assert.ErrorOf(store.Within("other").Put(ctx, &wrong)),
			"batch":       assert.ErrorOf(store.Batch().Insert(&wrong).Commit(ctx)),
			"table":       assert.ErrorOf(store.Table().Insert(ctx, &wrong)),
		} {
			assert.WantError(t, err, patterns.ErrMixedPartitions, name)
		}
		b.WantRequestCount(t, 0)
		report, err := store.Bulk(ctx, slices.Values([]patterns.StoreOp[counter]{patterns.InsertEntity(&row), patterns.InsertEntity(&wrong)}), nil)
		if !errors.Is(err, patterns.ErrMixedPartitions) || report.Done != 1 || len(report.Failures) != 1 || report.Failures[0].Index != 1 {
			t.Errorf("the report is %+v, %v", report, err)
		}
		assert.Must(store.Update(ctx, tally, addOne))(t)
		assert.Must(whole.Insert(ctx, &wrong))(t) // the Store itself is not restricted
	})
}

func TestRowsOfViewsElsewhereFollowTheEntitiesOfAPartition(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := new(harness.OutboxQueue)
		byShard := patterns.ViewOf("byShard", patterns.Shape{Remote: true}, func(c *counter) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "shard_" + c.Shard, Row: c.Name}, patterns.CopySpec{})}, nil
		})
		whole := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[counter]{Views: []patterns.View[counter]{byShard}, Outbox: queue})
		store := whole.Within("hits")
		ctx := t.Context()
		assert.Must(store.Insert(ctx, &counter{Name: "hits", Shard: "0"}))(t)
		harness.Get(t, whole.Table(), keys.Key{Partition: "shard_0", Row: "hits"})
		assert.NoError(t, store.Delete(ctx, tally))
		assert.Equal(t, len(harness.Rows(t, whole.Table().Client())), 0, "rows are left")
	})
}

func TestATransactionHasRowsOfOneTable(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table, other := harness.NewTable[counter](t, b.Table(t), nil), harness.NewTable[counter](t, b.NamedTable(t, harness.UniqueName()), nil)
		for _, of := range []*patterns.Table[counter]{table, other} {
			harness.Insert(t, of, counter{"hits", "first", 1}) // the names are known then
		}
		b.ResetRequests()
		v := counter{"hits", "second", 1}
		_, err := patterns.AddTo(table.Batch(), other, patterns.InsertOp(&v)).Commit(t.Context())
		assert.WantError(t, err, patterns.ErrMixedPartitions)
		b.WantRequestCount(t, 0)
	})
}
