package calls

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// Tries counts the tries that an SDK makes of one request, by the connections that net/http
// requested and got, and the replies that arrived. net/http sends nothing without a
// connection, and at most once on each. Other transports may report no connections.
type Tries struct{ Asked, Conns, Replies atomic.Int32 }

// Context returns the context for the call of the SDK.
func (t *Tries) Context(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { t.Asked.Add(1) },
		GotConn:              func(httptrace.GotConnInfo) { t.Conns.Add(1) },
		GotFirstResponseByte: func() { t.Replies.Add(1) },
	})
}

// EarlierOpen reports whether a try before the last may have been carried out. It returns
// true for a transport that does not report its connections.
func (t *Tries) EarlierOpen() bool { return t.Conns.Load() != 1 }
