package shards_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type order struct {
	PartitionKey, RowKey string
	Total                int32
}

func Example() {
	ctx := context.Background()
	var accounts []shards.Account
	for _, name := range []string{"a", "b", "c"} {
		var opts aztables.ClientOptions
		patterns.Accelerate(&opts.ClientOptions)
		service := storagetest.Start(nil).TablesWith(&opts)
		accounts = append(accounts, shards.Account{Name: name, Tables: service})
	}
	s, err := shards.New(accounts[:2], "orders", &shards.Options{Lease: time.Millisecond})
	if err == nil {
		err = s.Create(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	orders, err := shards.NewTable[order](s, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 6 {
		o := order{PartitionKey: fmt.Sprint("customer", i), RowKey: "00001", Total: int32(10 * i)}
		if _, err := orders.Insert(ctx, &o); err != nil {
			log.Fatal(err)
		}
	}
	// The third account takes its share while others read and write.
	if err := s.Add(ctx, accounts[2], nil); err != nil {
		log.Fatal(err)
	}
	for item, err := range orders.Query(ctx, query.PartitionKey.Prefix("customer"), nil) {
		if err != nil {
			log.Fatal(err)
		}
		owner, err := s.Account(ctx, item.Key.Partition)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Key.Partition, item.Value.Total, "in account", owner.Name)
	}
	// Output:
	// customer0 0 in account c
	// customer1 10 in account a
	// customer2 20 in account c
	// customer3 30 in account c
	// customer4 40 in account c
	// customer5 50 in account c
}

// Many rows of several partitions are written by a Bulk of each partition, a few of them concurrently.
// If a partition moves meanwhile, its Bulk waits, and its WriteWithin returns what is known.
func ExampleTable_bulk() {
	ctx := context.Background()
	var accounts []shards.Account
	for _, name := range []string{"a", "b"} {
		var opts aztables.ClientOptions
		patterns.Accelerate(&opts.ClientOptions)
		accounts = append(accounts, shards.Account{Name: name, Tables: storagetest.Start(nil).TablesWith(&opts)})
	}
	s, err := shards.New(accounts, "orders", nil)
	if err == nil {
		err = s.Create(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	orders, err := shards.NewTable[order](s, nil)
	if err != nil {
		log.Fatal(err)
	}

	byCustomer := map[string][]patterns.Op[order]{}
	for i := range 1000 {
		o := order{PartitionKey: fmt.Sprint("customer", i%4), RowKey: fmt.Sprintf("%05d", i)}
		byCustomer[o.PartitionKey] = append(byCustomer[o.PartitionKey], patterns.InsertOp(&o))
	}
	var applied atomic.Int64
	var group errgroup.Group
	group.SetLimit(8)
	for customer, ops := range byCustomer {
		group.Go(func() error {
			return orders.WriteWithin(ctx, customer, func(at *patterns.Table[order]) error {
				report, err := at.Bulk(ctx, slices.Values(ops), nil)
				applied.Add(int64(report.Done))
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(applied.Load(), "orders")
	// Output: 1000 orders
}
