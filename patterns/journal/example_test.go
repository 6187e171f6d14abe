package journal_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func ExampleOf() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	type Order struct {
		PartitionKey, RowKey string // the shop, and the number
		State                string
	}
	ctx := context.Background()
	table, err := patterns.NewTable[Order](storagetest.Start(nil).Tables().NewClient("Orders"), nil)
	check(err)
	changes := journal.Of[Order]("changes", nil)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Order]{Views: []patterns.View[Order]{changes}})
	check(err)
	check(store.Create(ctx))

	item, err := store.Insert(ctx, &Order{"shop", "1017", "new"}) // one transaction: the order, the marker, and the change
	check(err)
	_, err = store.PutItem(ctx, item, &Order{"shop", "1017", "canceled"})
	check(err)

	key := keys.Key{Partition: "shop", Row: "1017"}
	var first journal.Version
	for change, err := range changes.On(store).History(ctx, key, nil) {
		check(err)
		fmt.Println(change.Version, change.Event, change.After.State)
		first = change.Version
	}
	_, err = changes.On(store).Restore(ctx, key, first)
	check(err)
	now, err := store.Get(ctx, key)
	check(err)
	fmt.Println("now", now.Value.State)
	// Output:
	// 0000000001-0000000002 updated canceled
	// 0000000001-0000000001 inserted new
	// now new
}
