package calls

import (
	"context"
	"iter"
	"sync"
)

// Window is the number of calls that run concurrently. It begins with Start and is
// doubled with every result that the consumer takes, up to Max. So a consumer that
// stops early causes few calls, and one that continues gets the full concurrency.
// Values below 1 mean 1, and a Start above Max means Max.
type Window struct {
	Start, Max int

	// Want, if not nil, returns the number of results that the consumer can still
	// use, which limits the window. It is called between the results, in the goroutine
	// of the loop. Values below 1 mean 1.
	Want func() int
}

// Ordered calls fetch(ctx, 0) to fetch(ctx, n-1), with at most as many concurrent calls
// as the window allows, and yields the results in that order. It ends after the first
// error. Before it ends, it cancels the calls that are running and waits for them, so no
// goroutine outlives the loop. If Max is 1, it starts no goroutine.
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

		pending := make([]chan result, 0, min(n, w.Max)) // at most Max, oldest first
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
