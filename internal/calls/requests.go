package calls

import (
	"context"
	"sync/atomic"
	"time"
)

// Requests counts the requests of an operation, without the retries of the SDK, and limits their average number. The zero Requests
// is ready to use, and may be used concurrently.
type Requests struct {
	PerSecond int // 0 means no limit

	n     atomic.Int64
	began atomic.Pointer[time.Time]
}

type requestsKey struct{}

// Context returns a context whose requests r counts.
func (r *Requests) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestsKey{}, r)
}

// Count is the number of requests so far.
func (r *Requests) Count() int { return int(r.n.Load()) }

// CountRequest counts a request with this context, just before it is sent. If there is a limit it waits until the request is within
// it, or the context ends.
func CountRequest(ctx context.Context) {
	r, _ := ctx.Value(requestsKey{}).(*Requests)
	if r == nil {
		return
	}
	n := r.n.Add(1) - 1
	if r.PerSecond > 0 {
		now := time.Now()
		r.began.CompareAndSwap(nil, &now)
		_ = Sleep(ctx, r.began.Load().Add(time.Duration(n)*time.Second/time.Duration(r.PerSecond)).Sub(now)) // the request fails if ctx has ended
	}
}
