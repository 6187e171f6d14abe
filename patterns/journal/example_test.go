package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
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

// A copy of the table in another account, which a version protects from older states.
func ExampleChanges_HandleView() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	type Order struct {
		PartitionKey, RowKey string // the shop, and the number
		State                string
	}
	type Copy struct {
		PartitionKey, RowKey string
		State                string // "" for an order that was deleted
		Version              journal.Version
	}
	ctx := context.Background()
	here, elsewhere := storagetest.Start(nil), storagetest.Start(nil)
	queue := here.Queue("feeds")
	feed, err := journal.NewFeed(queue, "copy", nil)
	check(err)
	changes := journal.Of("changes", &journal.Options[Order]{Feeds: []*journal.Feed{feed}, FeedKeep: 24 * time.Hour})
	orders, err := patterns.NewTable[Order](here.Tables().NewClient("Orders"), nil)
	check(err)
	store, err := patterns.NewStore(orders, &patterns.StoreOptions[Order]{Views: []patterns.View[Order]{changes}})
	check(err)
	check(store.Create(ctx))
	copies, err := patterns.NewTable[Copy](elsewhere.Tables().NewClient("Orders"), nil)
	check(err)
	check(copies.Create(ctx))
	worker, err := eventual.NewWorker(queue, nil)
	check(err)
	check(worker.Create(ctx))

	copied := make(chan string, 10)
	changes.On(store).HandleView(worker, feed, func(ctx context.Context, key keys.Key, order *Order, version journal.Version) error {
		now := Copy{key.Partition, key.Row, "", version}
		if order != nil {
			now.State = order.State
		}
		_, err := copies.Update(ctx, key, func(c *Copy) error {
			if c.Version < version {
				*c = now
			}
			return nil
		})
		if errors.Is(err, patterns.ErrNotFound) {
			_, err = copies.Insert(ctx, &now)
		}
		if err == nil {
			copied <- fmt.Sprintf("%s %q", key.Row, now.State)
		}
		return err // another attempt follows
	})
	_, err = store.Insert(ctx, &Order{"shop", "1017", "new"})
	check(err)
	_, err = store.Put(ctx, &Order{"shop", "1017", "paid"})
	check(err)

	working, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- worker.Run(working) }()
	fmt.Println(<-copied)
	check(store.Delete(ctx, keys.Key{Partition: "shop", Row: "1017"}))
	fmt.Println(<-copied)
	stop()
	check(<-ended)
	// Output:
	// 1017 "paid"
	// 1017 ""
}
