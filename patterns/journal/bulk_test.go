package journal_test

import (
	"fmt"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
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
