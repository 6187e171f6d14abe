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
