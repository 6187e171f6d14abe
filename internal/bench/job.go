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
	make func(*service) (func(context.Context) error, error)
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

func rangeWays(want int) []Way {
	const filter = "PartitionKey eq 'Sales'"
	counted := func(n int, err error) error {
		if err == nil && n != want {
			err = fmt.Errorf("%d rows, want %d", n, want)
		}
		return err
	}
	ours := func(c *aztables.Client) (func(context.Context) error, error) {
		t, err := table(c)
		return func(ctx context.Context) error {
			n := 0
			for item, err := range t.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
				if err != nil {
					return err
				}
				if item.Value.Age == 47 {
					n++
				}
			}
			return counted(n, nil)
		}, err
	}
	return []Way{
		{handStruct, func(s *service) (func(context.Context) error, error) {
			return func(ctx context.Context) error { return counted(handRange[HandEmployee](ctx, s.plain, filter)) }, nil
		}},
		{handEntity, func(s *service) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				return counted(handRange[aztables.EDMEntity](ctx, s.plain, filter))
			}, nil
		}},
		{plainWay, func(s *service) (func(context.Context) error, error) { return ours(s.plain) }},
		{acceleratedWay, func(s *service) (func(context.Context) error, error) { return ours(s.accelerated) }},
	}
}

func getWays() []Way {
	ours := func(c *aztables.Client) (func(context.Context) error, error) {
		t, err := table(c)
		key := keys.Key{Partition: "Sales", Row: "00000001"}
		return func(ctx context.Context) error {
			_, err := t.Get(ctx, key)
			return err
		}, err
	}
	return []Way{
		{handStruct, func(s *service) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				_, err := handGet[HandEmployee](ctx, s.plain, "Sales", "00000001")
				return err
			}, nil
		}},
		{handEntity, func(s *service) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				_, err := handGet[aztables.EDMEntity](ctx, s.plain, "Sales", "00000001")
				return err
			}, nil
		}},
		{plainWay, func(s *service) (func(context.Context) error, error) { return ours(s.plain) }},
		{acceleratedWay, func(s *service) (func(context.Context) error, error) { return ours(s.accelerated) }},
	}
}

// batchWays insert a hundred rows into a new partition per run.
func batchWays() []Way {
	ours := func(c *aztables.Client) (func(context.Context) error, error) {
		t, err := table(c)
		rows := rowsOf(employee)
		return func(ctx context.Context) error {
			b, partition := t.Batch(), newPartition()
			for i := range rows {
				rows[i].PartitionKey = partition
				b.Insert(&rows[i])
			}
			r, err := b.Commit(ctx)
			if err == nil && len(r.ETags) != batchRows {
				err = fmt.Errorf("%d ETags, want %d", len(r.ETags), batchRows)
			}
			return err
		}, err
	}
	return []Way{
		{handStruct, func(s *service) (func(context.Context) error, error) {
			return handInserts(s, rowsOf(handEmployee), func(e *HandEmployee, p string) { e.PartitionKey = p }), nil
		}},
		{handEntity, func(s *service) (func(context.Context) error, error) {
			return handInserts(s, rowsOf(entityEmployee), func(e *aztables.EDMEntity, p string) { e.PartitionKey = p }), nil
		}},
		{plainWay, func(s *service) (func(context.Context) error, error) { return ours(s.plain) }},
		{acceleratedWay, func(s *service) (func(context.Context) error, error) { return ours(s.accelerated) }},
	}
}

func handInserts[T any](s *service, rows []T, setPartition func(*T, string)) func(context.Context) error {
	return func(ctx context.Context) error {
		partition := newPartition()
		for i := range rows {
			setPartition(&rows[i], partition)
		}
		return handBatch(ctx, s.plain, rows)
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
