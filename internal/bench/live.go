package bench

import (
	"context"
	"fmt"
	"time"
)

// measureLive measures a row with a latency. Setup and the clients are new for each run, and
// are not measured.
func (row Row) measureLive(ctx context.Context, o Options) ([]Result, error) {
	ways := row.ways()
	turns := make([][]Result, len(ways))
	for range o.Rounds {
		for i, w := range ways {
			r, err := row.live(ctx, w)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", row.Name, w.name, err)
			}
			turns[i] = append(turns[i], r)
		}
	}
	results := medians(turns)
	for i := range results {
		results[i].Way = ways[i].name
	}
	return results, nil
}

func (row Row) live(ctx context.Context, w rowWay) (Result, error) {
	c, err := newClients(ctx, row, w.accelerated)
	if err != nil {
		return Result{}, err
	}
	c.tape = nil
	run, err := w.make(c)
	if err != nil {
		return Result{}, err
	}
	c.delayed(row.Latency)
	start := time.Now()
	if err := run(ctx); err != nil {
		return Result{}, err
	}
	per := float64(row.Per)
	r := Result{Time: time.Duration(float64(time.Since(start)) / per), Requests: float64(len(c.account.Log())) / per}
	if row.Check != nil {
		err = row.Check(ctx, c.direct())
	}
	return r, err
}
