// Command hotpartition shows a hot partition and how to avoid it: it writes the same events
// with the hour as partition key, with the employee as partition key, and with the hour and
// a hash bucket (keys.Spread) as partition key.
//
//	go run ./examples/hotpartition
//	go run ./examples/hotpartition -draw .
//
// It uses an account inside this process. The request log of the account shows how many
// writes each partition received, and how many requests it takes to read an hour. With -draw
// it writes the heat maps of the first and the last layout, and of a mixed load (package heat), to a
// folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

const about = `
hotpartition shows a hot partition and how to avoid it: it writes the same events with
the hour as partition key, with the employee as partition key, and with the hour and a
hash bucket (keys.Spread) as partition key. For each it prints the share of writes in the
busiest partition, and the cost of reading an hour. It uses an account inside this process.`

func main() {
	folder := flag.String("draw", "", "write the heat maps before.html, after.html and mixed.html to this `folder`")
	cmdline.Parse(about)
	ctx := context.Background()
	err := run(ctx, os.Stdout)
	if err == nil && *folder != "" {
		err = draw(ctx, *folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hotpartition:", err)
		os.Exit(1)
	}
}

// Event is an entry of the event log. Its key depends on the layout.
type Event struct {
	Employee string
	ID       int
	At       time.Time
	Text     string
}

// layout defines the keys of events, and the filter for the events of an hour.
type layout struct {
	name string
	key  func(*Event) (keys.Key, error)
	hour func(at time.Time) query.Filter
}

const events = 1000

// buckets is the number of partitions of an hour. It determines the keys, so it cannot be
// changed later.
const buckets = 16

func layouts() ([]layout, error) {
	spread, err := keys.NewSpread(buckets)
	if err != nil {
		return nil, err
	}
	hour := func(at time.Time) string { return at.UTC().Format("2006010215") }
	id := func(e *Event) string { return fmt.Sprintf("%s_%05d", keys.Escape(e.Employee), e.ID) }
	return []layout{
		{
			name: "partition key = hour",
			key:  func(e *Event) (keys.Key, error) { return keys.Key{Partition: hour(e.At), Row: id(e)}, nil },
			hour: func(at time.Time) query.Filter { return query.PartitionKey.Eq(hour(at)) },
		},
		{
			name: "partition key = employee",
			key: func(e *Event) (keys.Key, error) {
				return keys.Key{Partition: keys.Escape(e.Employee), Row: fmt.Sprintf("%s_%05d", hour(e.At), e.ID)}, nil
			},
			// The filter has no condition on the partition key, so it reads all employees.
			hour: func(at time.Time) query.Filter { return query.RowKey.Prefix(hour(at) + "_") },
		},
		{
			name: "partition key = bucket and hour",
			key: func(e *Event) (keys.Key, error) {
				return keys.Key{Partition: spread.Partition(hour(e.At), id(e)), Row: id(e)}, nil
			},
			hour: func(at time.Time) query.Filter {
				partitions := make([]any, 0, buckets)
				for _, p := range spread.Partitions(hour(at)) {
					partitions = append(partitions, p)
				}
				return query.PartitionKey.In(partitions...)
			},
		},
	}, nil
}

func run(ctx context.Context, out io.Writer) error {
	all, err := layouts()
	if err != nil {
		return err
	}
	for _, l := range all {
		account := storagetest.Start(nil)
		table, err := open(ctx, account.Tables().NewClient("Events"), l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		account.ResetLog()
		if err := write(ctx, table); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		hottest, partitions := hottest(account.Log())
		fmt.Fprintf(out, "%s\n  writes: %d events to %d partition(s), %d%% of them to the busiest\n",
			l.name, events, partitions, 100*hottest/events)
		account.ResetLog()
		n, err := count(ctx, table, l.hour(start))
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		fmt.Fprintf(out, "  reading the hour: %s, %d events in %d request(s), %d rows read by the service\n\n",
			query.Explain(l.hour(start)).Class, n, len(account.Log()), account.Log().Scanned())
	}
	return nil
}

var start = time.Date(2014, 7, 31, 18, 0, 0, 0, time.UTC)

// open creates the table of a layout.
func open(ctx context.Context, client *aztables.Client, l layout) (*patterns.Table[Event], error) {
	table, err := patterns.NewTable(client, &patterns.TableOptions[Event]{Key: l.key})
	if err != nil {
		return nil, err
	}
	return table, table.Create(ctx)
}

// write writes the events of an hour, one by one.
func write(ctx context.Context, table *patterns.Table[Event]) error {
	for i := range events {
		e := Event{Employee: fmt.Sprintf("Sales/%06d", i%40), ID: i, At: start.Add(time.Duration(i) * 3 * time.Second), Text: "signed in"}
		if _, err := table.Insert(ctx, &e); err != nil {
			return err
		}
	}
	return nil
}

// count reads the events of a filter.
func count(ctx context.Context, table *patterns.Table[Event], filter query.Filter) (n int, err error) {
	for _, err := range table.Query(ctx, filter, &patterns.QueryOptions{Allow: query.TableScan}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// hottest returns the number of writes to the busiest partition, and the number of
// partitions.
func hottest(log storagetest.Log) (writes, partitions int) {
	perPartition := make(map[string]int)
	for _, r := range log {
		for _, row := range r.Rows {
			perPartition[row.Partition]++
		}
	}
	for _, n := range perPartition {
		writes = max(writes, n)
	}
	return writes, len(perPartition)
}
