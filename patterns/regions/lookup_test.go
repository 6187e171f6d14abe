package regions_test

import (
	"fmt"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A reader of lookups finds everything by the primary region. With a Permit it finds what was replicated while that is down, as its
// rows and their entities were then.
func TestAReaderOfLookupsUsesTheSecondaryIfItIsPermitted(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		index := secondaryindex.Lookup("n", nil, func(r *row) []string { return []string{fmt.Sprint(r.N)} },
			&secondaryindex.Options[row]{Partition: func(string, string) string { return "numbers" }})
		store := assert.Must(patterns.NewStore(w.rows, &patterns.StoreOptions[row]{Views: []patterns.View[row]{index}}))(t)
		for i := range 2 {
			assert.Must(store.Insert(ctx, &row{PartitionKey: "p", RowKey: fmt.Sprint(i), N: 1}))(t)
		}
		w.replicate()
		assert.Must(store.Insert(ctx, &row{PartitionKey: "p", RowKey: "2", N: 1}))(t)
		find := func(permit bool) (n int, err error) {
			ctx := ctx
			if permit {
				ctx, _ = regions.Permit(ctx)
			}
			for item, err := range index.On(store).Query(ctx, "", secondaryindex.Equal("1"), nil) {
				if err != nil {
					return n, err
				}
				assert.Equal(t, item.Value.N, 1)
				n++
			}
			return n, nil
		}
		assert.Equal(t, assert.Must(find(false))(t), 3)
		assert.Equal(t, assert.Must(find(true))(t), 3)
		w.account.Down(storagetest.Primary)
		assert.Equal(t, assert.Must(find(true))(t), 2, "while the primary is down")
		_, err := find(false)
		assert.Failed(t, err)
		w.account.Down()
		assert.Equal(t, assert.Must(find(false))(t), 3)
	})
}
