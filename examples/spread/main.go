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
	"io"
	"log"
	"os"

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

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	show := func(step string, result ...any) {
		counts := map[string]int{}
		for _, op := range acct.Log().Ops() {
			counts[op]++
		}
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(acct.Log()), counts)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the key of an event.
	spread, err := keys.NewSpread(8)
	if err != nil {
		return err
	}
	events, err := patterns.NewTable(service.NewClient("Events"), &patterns.TableOptions[Event]{
		Key: func(e *Event) (keys.Key, error) {
			return keys.Key{Partition: spread.Partition(e.Hour, e.ID), Row: e.ID}, nil
		},
	})
	if err != nil {
		return err
	}
	if err := events.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()

	// 2. Write the events of an hour: each partition receives about an eighth of them.
	const hour, n = "2014073118", 400
	for i := range n {
		if _, err := events.Insert(ctx, &Event{hour, fmt.Sprintf("evt%05d", i), "signed in"}); err != nil {
			return err
		}
	}
	partitions, busiest := map[string]int{}, 0
	for _, request := range acct.Log() {
		for _, row := range request.Rows {
			partitions[row.Partition]++
			busiest = max(busiest, partitions[row.Partition])
		}
	}
	show("write 400 events", len(partitions), "partitions, the busiest receives", busiest, "events")

	// 3. Read one event: its id determines the partition, so this is a point read.
	event, err := events.Get(ctx, keys.Key{Partition: spread.Partition(hour, "evt00017"), Row: "evt00017"})
	if err != nil {
		return err
	}
	show("read an event", event.Key.Partition, event.Value.Text)

	// 4. Read the hour: one query for each bucket. The plan shows the cost before a request is sent.
	var all []any
	for _, p := range spread.Partitions(hour) {
		all = append(all, p)
	}
	filter, found := query.PartitionKey.In(all...), 0
	for _, err := range events.Query(ctx, filter, nil) {
		if err != nil {
			return err
		}
		found++
	}
	show("read the hour", query.Explain(filter).Class, "of", len(all), "partitions,", found, "events")
	return nil
}
