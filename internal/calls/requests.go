package calls

import (
	"context"
	"sync/atomic"
)

// Requests counts the requests of an operation, without the retries of the SDK. The zero Requests
// is ready to use, and may be used concurrently.
type Requests struct {
	Wait func(ctx context.Context, before int) // if set, is called before each request with the number of those before

	n atomic.Int64
}

type requestsKey struct{}

// Context returns a context whose requests r counts.
func (r *Requests) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestsKey{}, r)
}

// Count is the number of requests so far.
func (r *Requests) Count() int { return int(r.n.Load()) }

// CountRequest counts a request with this context, just before it is sent.
func CountRequest(ctx context.Context) {
	if r, _ := ctx.Value(requestsKey{}).(*Requests); r != nil {
		if n := r.n.Add(1); r.Wait != nil {
			r.Wait(ctx, int(n)-1)
		}
	}
}
