package calls

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each calls f(ctx, 0) to f(ctx, n-1), at most limit at a time, in no order. It waits for all
// calls that it has begun and returns the first error, which also cancels ctx. It starts no
// goroutine for a single call.
func Each(ctx context.Context, n, limit int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	if n == 0 {
		return nil
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	for i := range n {
		g.Go(func() error { return f(gctx, i) })
	}
	return g.Wait()
}
