// Command spread stores an event log without a hot partition: the remedy for the prepend/append anti-pattern.
//
// Problem: with the hour as partition key, all events of an hour are written to one partition, the newest. The service
// refuses more than about 2,000 rows a second there, and cannot distribute one partition over servers.
//
// Layout: the number of a bucket, a hash of the event's id, precedes the hour. The writes of an hour go to eight
// partitions. To read the hour, all eight are queried concurrently.
//
//	PartitionKey   RowKey    Properties
//	04_2014073118  evt00017  Hour, ID, Text
//	05_2014073118  evt00018  Hour, ID, Text
//
// Use it if one partition cannot serve the writes. The number of buckets must not change while rows exist. In the guide's
// own remedy the employee is the partition key, and reading an hour scans the table. The larger program
// examples/hotpartition compares these layouts, and draws heat maps.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Event is an entry of the event log.
type Event struct {
	Hour, ID, Text string
}

// open declares the key of an event, and creates the table. spread knows the eight partitions of an hour.
func open(ctx context.Context, client *aztables.Client) (events *patterns.Table[Event], spread *keys.Spread, err error) {
	if spread, err = keys.NewSpread(8); err != nil {
		return nil, nil, err
	}
	events, err = patterns.NewTable(client, &patterns.TableOptions[Event]{
		Key: func(e *Event) (keys.Key, error) {
			return keys.Key{Partition: spread.Partition(e.Hour, e.ID), Row: e.ID}, nil
		},
	})
	if err != nil {
		return nil, nil, err
	}
	return events, spread, events.Create(ctx)
}

// write inserts events of an hour: each partition receives about an eighth of them.
func write(ctx context.Context, events *patterns.Table[Event], hour string, n int) error {
	for i := range n {
		if _, err := events.Insert(ctx, &Event{hour, fmt.Sprintf("evt%05d", i), "signed in"}); err != nil {
			return err
		}
	}
	return nil
}

// count reads the events of an hour: one query for each bucket. The plan shows the cost before a request is sent.
func count(ctx context.Context, events *patterns.Table[Event], spread *keys.Spread, hour string) (n int, plan query.Plan, err error) {
	var all []any
	for _, p := range spread.Partitions(hour) {
		all = append(all, p)
	}
	filter := query.PartitionKey.In(all...)
	for _, err := range events.Query(ctx, filter, nil) {
		if err != nil {
			return 0, plan, err
		}
		n++
	}
	return n, query.Explain(filter), nil
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	events, spread, err := open(ctx, acct.TablesWith(&opts).NewClient("Events"))
	if err != nil {
		log.Fatal(err)
	}
	const hour = "2014073118"
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"write 400 events", func() (any, error) {
			err := write(ctx, events, hour, 400)
			partitions, busiest := map[string]int{}, 0
			for _, request := range acct.Log() {
				for _, row := range request.Rows {
					partitions[row.Partition]++
					busiest = max(busiest, partitions[row.Partition])
				}
			}
			return fmt.Sprintf("%d partitions, the busiest receives %d events", len(partitions), busiest), err
		}},
		{"read an event", func() (any, error) { // its id determines the partition, so this is a point read
			event, err := events.Get(ctx, keys.Key{Partition: spread.Partition(hour, "evt00017"), Row: "evt00017"})
			return event.Key.Partition + " " + event.Value.Text, err
		}},
		{"read the hour", func() (any, error) {
			n, plan, err := count(ctx, events, spread, hour)
			return fmt.Sprintf("%v of %d partitions, %d events", plan.Class, spread.Buckets(), n), err
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		counts := map[string]int{}
		for _, op := range acct.Log().Ops() {
			counts[op]++
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), counts)
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
