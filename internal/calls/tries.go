package calls

import (
	"context"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
)

// Tries counts the tries that an SDK makes of one request, by the connections that net/http
// requested and got, and the replies that arrived. net/http sends nothing without a
// connection, and at most once on each. Other transports may report no connections.
//
// A credential requests its token in the same context. Its requests are not tries: they are
// those whose headers were written without the version that every storage request has.
type Tries struct{ Asked, Conns, Replies, headers, versions atomic.Int32 }

// Context returns the context for the call of the SDK.
func (t *Tries) Context(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { t.Asked.Add(1) },
		GotConn:              func(httptrace.GotConnInfo) { t.Conns.Add(1) },
		GotFirstResponseByte: func() { t.Replies.Add(1) },
		WroteHeaderField: func(key string, _ []string) {
			if strings.EqualFold(key, "x-ms-version") {
				t.versions.Add(1)
			}
		},
		WroteHeaders: func() { t.headers.Add(1) },
	})
}

// EarlierOpen reports whether a try before the last may have been carried out. It returns
// true for a transport that does not report its connections.
//
// The version of a request is counted before its headers, so a request that is being written
// never looks like one of a credential.
func (t *Tries) EarlierOpen() bool {
	ofCredentials := t.headers.Load() - t.versions.Load()
	return t.Conns.Load()-ofCredentials != 1
}
