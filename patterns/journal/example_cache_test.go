package journal_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Price is an entity that is read much more often than it changes.
type Price struct {
	PartitionKey, RowKey string // the shop, and the article
	Cents                int64
}

// cache has prices that were read of late. If it is that of several processes, it is in a service of its own.
type cache struct {
	mu     sync.Mutex
	prices map[keys.Key]*Price
}

// get returns a price, and whether it was in the cache.
func (c *cache) get(ctx context.Context, store *patterns.Store[Price], key keys.Key) (price Price, hit bool, err error) {
	c.mu.Lock()
	entry := c.prices[key]
	if entry != nil && entry.RowKey != "" {
		defer c.mu.Unlock()
		return *entry, true, nil
	}
	entry = new(Price) // shows below that the price has not changed since then
	c.prices[key] = entry
	c.mu.Unlock()
	item, err := store.Get(ctx, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.prices[key] == entry {
		if *entry = item.Value; err != nil {
			delete(c.prices, key)
		}
	}
	return item.Value, false, err
}

// drop removes a price that has changed, and prevents a reader that has read the former one from storing it. So it needs no version, and
// does no harm if it is called twice.
func (c *cache) drop(key keys.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.prices, key)
}

// A cache that is correct again as soon as the change was delivered: a second after the commit, unless the worker is late.
func ExampleChanges_Handle_cache() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx, acct := context.Background(), storagetest.Start(nil)
	queue := acct.Queue("feeds")
	feed, err := journal.NewFeed(queue, "cache", nil)
	check(err)
	changes := journal.Of("changes", &journal.Options[Price]{Content: journal.KeyOnly, Feeds: []*journal.Feed{feed}, FeedKeep: 24 * time.Hour})
	table, err := patterns.NewTable[Price](acct.Tables().NewClient("Prices"), nil)
	check(err)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Price]{Views: []patterns.View[Price]{changes}})
	check(err)
	check(store.Create(ctx))
	worker, err := eventual.NewWorker(queue, nil)
	check(err)
	check(worker.Create(ctx))

	prices := &cache{prices: map[keys.Key]*Price{}}
	dropped := make(chan keys.Key, 10)
	changes.On(store).Handle(worker, feed, func(_ context.Context, change journal.Change[Price]) error {
		prices.drop(change.Key)
		dropped <- change.Key
		return nil
	})
	working, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- worker.Run(working) }()

	tea := keys.Key{Partition: "shop", Row: "tea"}
	for _, cents := range []int64{290, 310} {
		_, err = store.Put(ctx, &Price{"shop", "tea", cents})
		check(err)
		<-dropped // only for the output of this example: until then the former price is returned
		for range 2 {
			price, hit, err := prices.get(ctx, store, tea)
			check(err)
			fmt.Println(price.Cents, "cached:", hit)
		}
	}
	stop()
	check(<-ended)
	// Output:
	// 290 cached: false
	// 290 cached: true
	// 310 cached: false
	// 310 cached: true
}
