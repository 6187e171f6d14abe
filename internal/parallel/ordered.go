// Package parallel runs requests side by side within bounds.
package parallel

import (
	"context"
	"iter"
	"sync"
)

// Window is how many calls may be under way at once. It starts at Start and
// doubles up to Max with every result that is taken, so that a consumer who stops
// early has caused few calls, and one who goes on has many at work. Values below 1
// count as 1; Start is at most Max.
type Window struct {
	Start, Max int

	// Want, if not nil, lowers the number to how many results the consumer can
	// still have use for. It is asked between the results, in the goroutine of the
	// loop; values below 1 count as 1.
	Want func() int
}

// Ordered calls fetch(ctx, 0) to fetch(ctx, n-1), at most the window's number at
// once, and yields the results in that order. It ends after the first error. When
// it ends, for whatever reason, the calls under way are cancelled and waited for:
// no goroutine outlives the loop. A window of one needs no goroutine.
func Ordered[R any](ctx context.Context, n int, w Window, fetch func(ctx context.Context, i int) (R, error)) iter.Seq2[R, error] {
	w.Max = max(w.Max, 1)
	w.Start = min(max(w.Start, 1), w.Max)
	return func(yield func(R, error) bool) {
		if w.Max == 1 || n <= 1 {
			for i := range n {
				r, err := fetch(ctx, i)
				if !yield(r, err) || err != nil {
					return
				}
			}
			return
		}
		type result struct {
			value R
			err   error
		}
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		pending := make([]chan result, 0, min(n, w.Max)) // ring of at most Max, oldest first
		started, window := 0, w.Start
		for taken := range n {
			open := window
			if w.Want != nil {
				open = min(open, max(w.Want(), 1))
			}
			for started < n && started-taken < open {
				done := make(chan result, 1)
				i := started
				running.Go(func() {
					var r result
					r.value, r.err = fetch(ctx, i)
					done <- r
				})
				pending = append(pending, done)
				started++
			}
			r := <-pending[0]
			pending = pending[1:]
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
			window += min(window, w.Max-window) // without an overflow
		}
	}
}
