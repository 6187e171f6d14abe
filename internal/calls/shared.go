package calls

import (
	"context"
	"sync"
	"time"
)

// Shared combines calls: those with one key that begin while another one is in flight become a single call, which begins
// when that one ends. The zero value is ready. It may be used concurrently.
type Shared[K comparable, T, R any] struct {
	Wait time.Duration // how long a call waits for others if none is in flight

	mu   sync.Mutex
	next map[K]*combined[T, R] // a key exists while a call is in flight; nil: nothing has begun meanwhile
}

type combined[T, R any] struct {
	ctx    context.Context // of the first one, without its end
	items  []T
	done   chan struct{}
	result R
	err    error
}

// Call calls do with item, or with those of others too, for which fits must be true. All of them get its result. If ctx
// ends, Call returns its error, but a call for several items goes on.
func (g *Shared[K, T, R]) Call(ctx context.Context, key K, item T, fits func(items []T) bool, do func(ctx context.Context, items []T) (R, error)) (result R, err error) {
	g.mu.Lock()
	c, busy := g.next[key]
	if g.next == nil {
		g.next = map[K]*combined[T, R]{}
	}
	switch {
	case !busy && g.Wait == 0:
		g.next[key] = nil
		g.mu.Unlock()
		defer g.end(key, do)
		return do(ctx, []T{item})
	case c == nil:
		c = &combined[T, R]{ctx: context.WithoutCancel(ctx), done: make(chan struct{})}
		g.next[key] = c
		if !busy {
			time.AfterFunc(g.Wait, func() { g.end(key, do) })
		}
	case !fits(append(c.items, item)):
		g.mu.Unlock()
		return do(ctx, []T{item})
	}
	c.items = append(c.items, item)
	g.mu.Unlock()
	select {
	case <-c.done:
		return c.result, c.err
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

// end begins the call that has been combined while one with the same key was in flight.
func (g *Shared[K, T, R]) end(key K, do func(ctx context.Context, items []T) (R, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.next[key]
	if c == nil {
		delete(g.next, key)
		return
	}
	g.next[key] = nil
	go func() {
		defer g.end(key, do)
		defer close(c.done)
		c.result, c.err = do(c.ctx, c.items)
	}()
}
