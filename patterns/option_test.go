package patterns_test

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/query"
)

// A service that passes on a limit from its own callers answers 400 to a bad one.
func TestABadOptionMatchesOneSentinelInAllPackages(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		rows := assert.Must(patterns.NewTable[patterns.Row](table.Client(), nil))(t)
		store := assert.Must(patterns.NewStore(table, nil))(t)
		none, noEntities := func(func(patterns.Op[harness.Person]) bool) {}, func(func(patterns.StoreOp[harness.Person]) bool) {}
		queue := b.Queue(t)
		sales := query.PartitionKey.Eq("sales")
		b.ResetRequests()
		for name, err := range map[string]error{
			"Query":        assert.Failure(t, table.Query(ctx, sales, &patterns.QueryOptions{Limit: -1})),
			"Query of Row": assert.Failure(t, rows.Query(ctx, sales, &patterns.QueryOptions{PageSize: -1})),
			"Page":         assert.ErrorOf(table.Page(ctx, sales, "", &patterns.QueryOptions{Limit: -1})),
			"Scan":         assert.Failure(t, table.Scan(ctx, sales, "", &patterns.QueryOptions{PageSize: -1})),
			"Explain":      assert.ErrorOf(table.Explain(sales, &patterns.QueryOptions{PageSize: -1})),
			"NewTable":     assert.ErrorOf(patterns.NewTable[patterns.Row](table.Client(), &patterns.TableOptions[patterns.Row]{Tries: -1})),
			"Parallel":     assert.Failure(t, table.Query(ctx, sales, &patterns.QueryOptions{Parallel: -1})),
			"Segments":     assert.ErrorOf(table.Segments(ctx, sales, 2, &patterns.QueryOptions{Parallel: -1})),
			"Bulk":         assert.ErrorOf(table.Bulk(ctx, none, &patterns.BulkOptions{Parallel: -1})),
			"Store.Bulk":   assert.ErrorOf(store.Bulk(ctx, noEntities, &patterns.BulkOptions{Parallel: -1})),
			"Grace":        assert.ErrorOf(patterns.NewStore(table, &patterns.StoreOptions[harness.Person]{Grace: -1})),
			"Tries":        assert.ErrorOf(patterns.NewStore(table, &patterns.StoreOptions[harness.Person]{Tries: -1})),
			"DeleteWhere":  assert.ErrorOf(table.DeleteWhere(ctx, sales, "", &patterns.DeleteOptions{QueryOptions: patterns.QueryOptions{Parallel: -1}})),
			"Delete all":   assert.ErrorOf(table.DeleteWhere(ctx, sales, "", &patterns.DeleteOptions{QueryOptions: patterns.QueryOptions{Limit: 1}})),
			"Delete part":  assert.ErrorOf(table.DeleteWhere(ctx, sales, "", &patterns.DeleteOptions{QueryOptions: patterns.QueryOptions{Select: []string{}}})),
			"Scan of some": assert.Failure(t, table.Scan(ctx, sales, "", &patterns.QueryOptions{Limit: 1})),
			"Part of some": assert.ErrorOf(table.Segments(ctx, sales, 2, &patterns.QueryOptions{Limit: 1})),
			"Worker":       assert.ErrorOf(eventual.NewWorker(queue, &eventual.Options{Parallel: -1})),
			"Enqueue":      eventual.Enqueue(ctx, queue, "k", 1, &eventual.EnqueueOptions{Delay: -time.Second}),
			"Verify":       assert.Failure(t, reindex.Verify(ctx, store, "", &reindex.Options{Differences: -1})),
			"Repair":       assert.ErrorOf(reindex.Repair(ctx, store, "", &reindex.Options{RequestsPerSecond: -1})),
		} {
			assert.WantError(t, err, patterns.ErrBadOption, name)
		}
		b.WantRequestCount(t, 0)
	})
}
