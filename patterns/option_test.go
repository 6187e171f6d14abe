package patterns_test

import (
	"errors"
	"testing"
	"time"

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
		rows, err := patterns.NewTable[patterns.Row](table.Client(), nil)
		harness.NoError(t, err)
		store, err := patterns.NewStore(table, nil)
		harness.NoError(t, err)
		none, noEntities := func(func(patterns.Op[harness.Person]) bool) {}, func(func(patterns.StoreOp[harness.Person]) bool) {}
		queue := b.Queue(t)
		sales := query.PartitionKey.Eq("sales")
		b.ResetRequests()
		for name, err := range map[string]error{
			"Query":        harness.Failure(t, table.Query(ctx, sales, &patterns.QueryOptions{Limit: -1})),
			"Query of Row": harness.Failure(t, rows.Query(ctx, sales, &patterns.QueryOptions{PageSize: -1})),
			"Page":         harness.ErrorOf(table.Page(ctx, sales, "", &patterns.QueryOptions{Limit: -1})),
			"Scan":         harness.Failure(t, table.Scan(ctx, sales, "", &patterns.ScanOptions{PageSize: -1})),
			"Explain":      harness.ErrorOf(table.Explain(sales, &patterns.QueryOptions{PageSize: -1})),
			"NewTable":     harness.ErrorOf(patterns.NewTable[patterns.Row](table.Client(), &patterns.TableOptions[patterns.Row]{Tries: -1})),
			"Parallel":     harness.Failure(t, table.Query(ctx, sales, &patterns.QueryOptions{Parallel: -1})),
			"Segments":     harness.ErrorOf(table.Segments(ctx, sales, 2, &patterns.ScanOptions{Parallel: -1})),
			"Bulk":         harness.ErrorOf(table.Bulk(ctx, none, &patterns.BulkOptions{Parallel: -1})),
			"Store.Bulk":   harness.ErrorOf(store.Bulk(ctx, noEntities, &patterns.BulkOptions{Parallel: -1})),
			"Grace":        harness.ErrorOf(patterns.NewStore(table, &patterns.StoreOptions[harness.Person]{Grace: -1})),
			"Tries":        harness.ErrorOf(patterns.NewStore(table, &patterns.StoreOptions[harness.Person]{Tries: -1})),
			"DeleteWhere":  harness.ErrorOf(table.DeleteWhere(ctx, sales, &patterns.DeleteOptions{Parallel: -1})),
			"Worker":       harness.ErrorOf(eventual.NewWorker(queue, &eventual.Options{Parallel: -1})),
			"Enqueue":      eventual.Enqueue(ctx, queue, "k", 1, &eventual.EnqueueOptions{Delay: -time.Second}),
			"Verify":       harness.Failure(t, reindex.Verify(ctx, store, &reindex.Options{Differences: -1})),
			"Repair":       harness.ErrorOf(reindex.Repair(ctx, store, &reindex.Options{RequestsPerSecond: -1})),
		} {
			if !errors.Is(err, patterns.ErrBadOption) {
				t.Errorf("%s: %v", name, err)
			}
		}
		b.WantRequestCount(t, 0)
	})
}
