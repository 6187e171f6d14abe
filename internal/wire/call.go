package wire

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// call is one logical request, over all the tries that azcore makes of it. It
// travels in the context: the accelerating policy finds it there, and where the
// policy is absent the call is finished from the captured reply.
type call struct {
	client *Client
	write  bool
	rows   int // how many rows the reply may hold; below 1 counts as 1

	// receive takes a successful reply. The body is valid only during the call.
	receive func(resp *http.Response, body []byte) error

	body   *body    // sent instead of the stub that aztables was given
	batch  []*Write // the same for a transaction; built when the table's address is known
	prefer bool     // ask for an empty answer

	seen     bool           // the policy is in the pipeline
	received bool           // receive has been called
	resp     *http.Response // plain mode: the last reply

	tries   int  // counted by the policy
	open    bool // the last try had no definite answer
	unclear bool // a try before the last had none
	silent  bool // a try had no answer at all

	// Plain mode: connections that net/http looked for, and got, for a write, and
	// the replies that came. It sends nothing without a connection, and once at most
	// on each.
	asked, conns, replies atomic.Int32
}

type callKey struct{}

// context is ctx as the SDK call gets it.
func (c *call) context(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, callKey{}, c)
	if c.client.mode.Load() == accelerated {
		return ctx
	}
	ctx = policy.WithCaptureResponse(ctx, &c.resp)
	if c.prefer {
		ctx = policy.WithHTTPHeader(ctx, http.Header{"Prefer": {"return-no-content"}})
	}
	if c.write {
		// Without the policy nothing in azcore tells how often it tried; net/http does.
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn:              func(string) { c.asked.Add(1) },
			GotConn:              func(httptrace.GotConnInfo) { c.conns.Add(1) },
			GotFirstResponseByte: func() { c.replies.Add(1) },
		})
	}
	return ctx
}

// unsent reports whether the call failed, by err, before any try went out.
func (c *call) unsent(err error) bool {
	switch {
	case c.seen, c.resp != nil, c.conns.Load() > 0:
		return false
	case c.client.mode.Load() == accelerated, c.asked.Load() > 0:
		return true // not even the policy was reached; or there was no connection
	}
	// Credentials mark their failures so. Other errors with the mark have a reply.
	var failed interface{ NonRetriable() }
	return errors.As(err, &failed)
}

// unsure reports whether a try before the last may have been carried out. Of a
// transport that does not report its connections nothing is known, and the answer
// is yes.
func (c *call) unsure() bool {
	if c.seen {
		return c.unclear
	}
	return c.conns.Load() != 1
}

// unanswered reports whether a try had no answer at all, or may have had none: then it
// may still be on its way to the service.
func (c *call) unanswered() bool {
	if c.seen {
		return c.silent
	}
	return c.conns.Load() == 0 || c.replies.Load() < c.conns.Load()
}
