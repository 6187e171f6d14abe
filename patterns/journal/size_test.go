package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
)

func TestABulkFillsTransactions(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b, nil)
		b.ResetRequests()
		report := assert.Must(w.Bulk(t.Context(), func(yield func(patterns.StoreOp[order]) bool) {
			for i := range 490 {
				if !yield(patterns.InsertEntity(newOrder(fmt.Sprint(i), "new", i))) {
					return
				}
			}
		}, nil))(t)
		assert.Equal(t, report.Done, 490)
		if batches := b.Requests().Count("Table.Batch"); batches > 13 { // 10 if the size was known, and 49 entities in each
			t.Errorf("%d transactions for 490 entities", batches)
		}
	})
}

func TestALargeEntityCanBeDeleted(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		key := keys.Key{Partition: "p", Row: "r"}
		for _, content := range []journal.Content{journal.After, journal.BeforeAndAfter, journal.Changed} {
			client := b.Table(t)
			table := harness.NewTable(t, client, &patterns.TableOptions[map[string]any]{Key: func(*map[string]any) (keys.Key, error) { return key, nil }})
			long := map[string]any{} // 993 kB as JSON, and the names alone take 62 kB
			for i := range 130 {
				long[fmt.Sprintf("P%03d%s", i, strings.Repeat("x", 236))] = "y"
			}
			for i := range 12 {
				long[fmt.Sprint("B", i)] = make([]byte, 60_000)
			}
			assert.Must(table.Insert(ctx, &long))(t) // by a program without a journal
			j := journal.Of("j", &journal.Options[map[string]any]{Content: content})
			store, err := patterns.NewStore(table, &patterns.StoreOptions[map[string]any]{Views: []patterns.View[map[string]any]{j}})
			assert.NoError(t, err)
			assert.NoError(t, store.Delete(ctx, key))
			page := assert.Must(j.On(store).Page(ctx, key, "", nil))(t)
			assert.Equal(t, len(page.Changes), 1)
			assert.Equal(t, page.Changes[0].Event, journal.Deleted)
		}
	})
}
