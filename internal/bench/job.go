// Package bench compares azpatterns with the same job written by hand with aztables, in
// one run and with the same service: a transport that returns fixed bytes, a server that
// sends the same bytes over loopback HTTP, an in-process account, or Azurite. It compares
// the cost of the client. All requests are signed with a shared key.
//
// Use the benchmarks of this package to examine one way of doing a job. The command
// report runs all ways of a job alternately and prints medians and ratios. Its output is
// README.md, and -readme replaces the short table of the README of the module:
//
//	go run ./internal/bench/report -readme README.md > internal/bench/README.md
//
// With -only it runs some of the jobs. This compares the operations of a Store with
// transactions written by hand:
//
//	go run ./internal/bench/report -only Store
//
// The table of goals ([Rows]) has a row for each operation of each pattern. There the replies
// of an in-process account are recorded once and replayed, so that only the client costs
// anything. Only the row of the worker has a service that takes time. To add an operation,
// write a [Row] in the file of its area. What is not the cost of an operation, such as the
// size of a reply, is one of the [Figures].
package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Job is a task that can be done in several ways. The first way is the baseline of the
// comparison.
type Job struct {
	Name string
	Unit string // unit of the results, such as "row"
	Per  int    // units per run
	Wall bool   // the service is the bottleneck, so only the elapsed time is compared
	Ways []Way

	open  func(context.Context) (*service, error)
	clock func() time.Duration // nil means the elapsed time
}

// Way is one way to do a job.
type Way struct {
	Name string
	make func(*service) (Run, error)
}

// Jobs returns the jobs. The jobs that need Azurite are last.
func Jobs() []Job {
	return []Job{
		{Name: "page read, in process", Unit: "row", Per: pageRows, Ways: rangeWays(pageRows), open: inProcess},
		{Name: "page read, loopback HTTP", Unit: "row", Per: pageRows, Ways: rangeWays(pageRows), open: overHTTP},
		{Name: "point read, in process", Unit: "read", Per: 1, Ways: getWays(), open: inProcess},
		{Name: "batch of 100 inserts, in process", Unit: "operation", Per: batchRows, Ways: batchWays(), open: inProcess},
		{Name: "batch of 100 inserts, loopback HTTP", Unit: "operation", Per: batchRows, Ways: batchWays(), open: overHTTP},
		{Name: "range of 5,000 rows, Azurite", Unit: "row", Per: rangeRows, Wall: true, Ways: rangeWays(rangeRows), open: onAzurite(rangeRows)},
		{Name: "sequential batches, Azurite", Unit: "operation", Per: batchRows, Wall: true, Ways: batchWays(), open: onAzurite(0)},
	}
}

const (
	handStruct     = "by hand, struct"
	handEntity     = "by hand, EDMEntity"
	plainWay       = "azpatterns, plain"
	acceleratedWay = "azpatterns, accelerated"
)

func table(c *aztables.Client) (*patterns.Table[Employee], error) {
	return patterns.NewTable[Employee](c, nil)
}

// ways are the ways of a job: by hand with a struct and with an EDMEntity, and ours with a plain and an accelerated client.
func ways(structs, entities func(context.Context, *aztables.Client) error, ours func(context.Context, *patterns.Table[Employee]) error) []Way {
	byHand := func(s *service, do func(context.Context, *aztables.Client) error) (Run, error) {
		return func(ctx context.Context) error { return do(ctx, s.plain) }, nil
	}
	through := func(c *aztables.Client) (Run, error) {
		t, err := table(c)
		return func(ctx context.Context) error { return ours(ctx, t) }, err
	}
	return []Way{
		{handStruct, func(s *service) (Run, error) { return byHand(s, structs) }},
		{handEntity, func(s *service) (Run, error) { return byHand(s, entities) }},
		{plainWay, func(s *service) (Run, error) { return through(s.plain) }},
		{acceleratedWay, func(s *service) (Run, error) { return through(s.accelerated) }},
	}
}

func rangeWays(want int) []Way {
	return ways(handSales[HandEmployee](want), handSales[aztables.EDMEntity](want), func(ctx context.Context, t *patterns.Table[Employee]) error {
		n := 0
		for item, err := range t.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			if err != nil {
				return err
			}
			if item.Value.Age == 47 {
				n++
			}
		}
		return wantCount(n, want, nil)
	})
}

func handSales[T any](want int) func(context.Context, *aztables.Client) error {
	return func(ctx context.Context, c *aztables.Client) error {
		n, err := handRange[T](ctx, c, "PartitionKey eq 'Sales'")
		return wantCount(n, want, err)
	}
}

func getWays() []Way {
	return ways(handFirst[HandEmployee], handFirst[aztables.EDMEntity], func(ctx context.Context, t *patterns.Table[Employee]) error {
		_, err := t.Get(ctx, keys.Key{Partition: "Sales", Row: "00000001"})
		return err
	})
}

func handFirst[T any](ctx context.Context, c *aztables.Client) error {
	_, err := handGet[T](ctx, c, "Sales", "00000001")
	return err
}

// batchWays insert a hundred rows into a new partition per run.
func batchWays() []Way {
	rows := rowsOf(employee)
	return ways(
		handInserts(rowsOf(handEmployee), func(e *HandEmployee, p string) { e.PartitionKey = p }),
		handInserts(rowsOf(entityEmployee), func(e *aztables.EDMEntity, p string) { e.PartitionKey = p }),
		func(ctx context.Context, t *patterns.Table[Employee]) error {
			b, partition := t.Batch(), newPartition()
			for i := range rows {
				rows[i].PartitionKey = partition
				b.Insert(&rows[i])
			}
			r, err := b.Commit(ctx)
			return wantCount(len(r.ETags), batchRows, err)
		})
}

func handInserts[T any](rows []T, setPartition func(*T, string)) func(context.Context, *aztables.Client) error {
	return func(ctx context.Context, c *aztables.Client) error {
		partition := newPartition()
		for i := range rows {
			setPartition(&rows[i], partition)
		}
		return handBatch(ctx, c, rows)
	}
}

var partitions atomic.Int64

func newPartition() string { return fmt.Sprintf("b%08d", partitions.Add(1)) }

func rowsOf[T any](row func(int) T) []T {
	rows := make([]T, batchRows)
	for i := range rows {
		rows[i] = row(i)
	}
	return rows
}
