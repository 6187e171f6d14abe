package otel

import (
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"

	"github.com/azpatterns/azpatterns/internal/target"
)

// tries counts the tries of requests. The SDK does not pass their number to the transport, and makes a
// copy of the request for each. Only requests whose last try failed so that the SDK may repeat it are
// kept, by the hash of their identity, and at most maxFailed of them.
type tries struct {
	some   atomic.Bool // failed is not empty
	mu     sync.Mutex
	failed map[uint64]int // the number of tries
}

// maxFailed bounds what is kept of requests that were not repeated.
const maxFailed = 1024

var seed = maphash.MakeSeed()

// identify returns the hash of what the tries of a request have in common: the span they are made
// in, the method, the address, and of the body its size and the keys of rows, which read has. If no
// span is the parent, a later request can have the same.
func identify(req *http.Request, read *target.Request) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	parent := trace.SpanContextFromContext(req.Context()).SpanID()
	_, _ = h.Write(parent[:])
	_, _ = h.WriteString(req.Method)
	_, _ = h.WriteString(req.URL.String())
	maphash.WriteComparable(&h, req.ContentLength)
	for _, row := range read.Rows {
		_, _ = h.Write(read.In(row))
	}
	return h.Sum64()
}

// before returns how many tries of the request have failed.
func (t *tries) before(req *http.Request, read *target.Request) int {
	if !t.some.Load() {
		return 0
	}
	id := identify(req, read)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed[id]
}

// end records a try. before is the number of those that have failed.
func (t *tries) end(req *http.Request, read *target.Request, before int, resp *http.Response, err error) {
	again := err != nil || resp == nil || resp.StatusCode >= http.StatusInternalServerError ||
		resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode == http.StatusTooManyRequests
	if !again && before == 0 {
		return
	}
	id := identify(req, read)
	t.mu.Lock()
	defer t.mu.Unlock()
	if again {
		if t.failed == nil || len(t.failed) >= maxFailed {
			t.failed = map[uint64]int{}
		}
		t.failed[id] = before + 1
	} else {
		delete(t.failed, id)
	}
	t.some.Store(len(t.failed) > 0)
}
