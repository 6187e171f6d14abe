// Command history keeps every version of an entity, and brings back one that a mistake has overwritten.
//
// Problem: a row is only what it is now. A log row that a program writes in addition can be missing after a crash, and a clock orders
// the versions of two programs wrongly.
//
// Layout: each change adds a row to the partition of the entity, in the same transaction. Its key has a version that only grows, inverted:
// the newest change comes first.
//
//	PartitionKey    RowKey                                      Properties
//	shop            1017                                        State, Total, azp_journal (the version)
//	shop            ~azp_hist_kTbf…_9999999998-9999999997       azp_kind, azp_after0 (the order after the change), azp_pk, azp_rk, azp_view
//
// Use it to audit or undo changes of single entities. The newest events of a whole system are read from a log: logtail.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Order is the entity.
type Order struct {
	PartitionKey, RowKey string // shop and number
	State                string
	Total                int64 // in cents
}

var changes = journal.Of[Order]("changes", nil)

// newOrders declares the table and its journal.
func newOrders(client *aztables.Client) (*patterns.Store[Order], error) {
	table, err := patterns.NewTable[Order](client, nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Order]{Views: []patterns.View[Order]{changes}})
}

// history returns what happened to an order, the newest change first.
func history(ctx context.Context, orders *patterns.Store[Order], key keys.Key) (string, error) {
	var lines []string
	for change, err := range changes.On(orders).History(ctx, key, nil) {
		if err != nil {
			return "", err
		}
		line := fmt.Sprintf("%s %v", change.Version, change.Event)
		if change.After != nil {
			line += fmt.Sprintf(": %s, %d", change.After.State, change.After.Total)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n  "), nil
}

// undo brings back what an order was before its last change.
func undo(ctx context.Context, orders *patterns.Store[Order], key keys.Key) (string, error) {
	page, err := changes.On(orders).Page(ctx, key, "", &patterns.QueryOptions{Limit: 2})
	if err != nil {
		return "", err
	}
	if len(page.Changes) < 2 {
		return "", patterns.ErrNotFound
	}
	item, err := changes.On(orders).Restore(ctx, key, page.Changes[1].Version)
	return item.Value.State, err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	orders, err := newOrders(acct.TablesWith(&opts).NewClient("Orders"))
	if err != nil {
		log.Fatal(err)
	}
	key := keys.Key{Partition: "shop", Row: "1017"}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"create the table", func() (any, error) { return nil, orders.Create(ctx) }},
		{"order", func() (any, error) { return orders.Insert(ctx, &Order{"shop", "1017", "new", 1250}) }},
		{"pay", func() (any, error) {
			return orders.Update(ctx, key, func(o *Order) error { o.State = "paid"; return nil })
		}},
		{"delete it by mistake", func() (any, error) { return nil, orders.Delete(ctx, key) }},
		{"undo", func() (any, error) { return undo(ctx, orders, key) }},
		{"history", func() (any, error) { return history(ctx, orders, key) }},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-22s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if text, ok := result.(string); ok {
			fmt.Println(" ", text)
		}
	}
}
