package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

const (
	pointRows   = 500    // rows to read
	pointOf     = 10_000 // rows in the partition
	pointWidth  = 8      // concurrent requests
	orRows      = 14     // row keys in a filter, which can have 15 comparisons
	pointFilter = "PartitionKey eq 'Sales' and (%s)"
)

// PointResult is the cost of one way to read 500 rows by their keys.
type PointResult struct {
	Way      string
	Requests int
	Scanned  int           // rows that the service had to read
	Time     time.Duration // median of all rounds
	Ratio    float64       // time of the first way divided by the time of this one, median of all rounds
}

// Points reads 500 rows of a partition of 10,000 by their keys, on an in-process account
// that delays every request by latency. The in-process account reads rows faster than the
// service, so ways that make it read many rows have better results here than with the
// service.
func Points(ctx context.Context, latency time.Duration, rounds int) ([]PointResult, error) {
	acct, fast, err := filled(ctx, nil, pointOf)
	if err != nil {
		return nil, err
	}
	plain := acct.Tables().NewClient(tableName)
	if latency > 0 {
		acct.Fault(storagetest.On("Table.*").Delay(latency))
	}
	wanted := make([]any, pointRows)
	for i := range wanted {
		wanted[i] = fmt.Sprintf("%08d", i*pointOf/pointRows)
	}
	ways := []struct {
		name string
		run  func() (int, error)
	}{
		{"`or` filters of 15 comparisons, by hand", func() (int, error) { return handOr(ctx, plain, wanted, 1) }},
		{"the same, 8 concurrently", func() (int, error) { return handOr(ctx, plain, wanted, pointWidth) }},
		{"GetEntity in 8 goroutines, by hand", func() (int, error) { return handKeys[HandEmployee](ctx, plain, wanted) }},
		{"`RowKey.In(…)`, azpatterns", func() (int, error) {
			f, n := query.And(query.PartitionKey.Eq("Sales"), query.RowKey.In(wanted...)), 0
			for _, err := range fast.Query(ctx, f, &patterns.QueryOptions{Parallel: pointWidth}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}},
	}
	turns := make([][]Result, len(ways))
	results := make([]PointResult, len(ways))
	for range max(rounds, 1) {
		for i, w := range ways {
			acct.ResetLog()
			start := time.Now()
			n, err := w.run()
			if err != nil || n != pointRows {
				return nil, fmt.Errorf("%s: %d rows: %w", w.name, n, err)
			}
			turns[i] = append(turns[i], Result{Time: time.Since(start)})
			results[i] = PointResult{Way: w.name, Requests: len(acct.Log()), Scanned: acct.Log().Scanned()}
		}
	}
	for i, r := range medians(turns) {
		results[i].Time, results[i].Ratio = r.Time, r.Ratio
	}
	return results, nil
}

// handOr reads as many rows per request as a filter can have row keys.
func handOr(ctx context.Context, table *aztables.Client, wanted []any, width int) (int, error) {
	var rows atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(width)
	for some := range slices.Chunk(wanted, orRows) {
		g.Go(func() error {
			parts := make([]string, len(some))
			for i, k := range some {
				parts[i] = fmt.Sprintf("RowKey eq '%s'", k)
			}
			n, err := handRange[HandEmployee](ctx, table, fmt.Sprintf(pointFilter, strings.Join(parts, " or ")))
			rows.Add(int64(n))
			return err
		})
	}
	err := g.Wait()
	return int(rows.Load()), err
}
