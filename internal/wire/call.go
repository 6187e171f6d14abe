package wire

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
)

// call is one logical request with all the tries that azcore makes of it. It is a value in
// the context, from which the accelerating policy takes it. If the policy is absent, the
// call is completed from the captured reply.
type call struct {
	client *Client
	requestTarget
	write bool
	again bool // a late attempt of the write can be carried out after another was

	// receive is called with a successful reply. body is valid only during that call.
	receive func(resp *http.Response, body []byte) error

	body   *pooledBody // sent instead of the stub that aztables has
	batch  []*Write    // the same for a transaction; encoded when the table's address is known
	prefer bool        // request an empty reply

	seen     bool           // the policy is in the pipeline
	received bool           // receive has been called
	resp     *http.Response // plain mode: the last reply

	tries       int  // counted by the policy
	open        bool // the outcome of the last try is not known
	earlierOpen bool // the outcome of an earlier try is not known
	noReply     bool // a try got no reply at all

	sent calls.Tries // of a write in plain mode

	kept     *kept           // the request that is sent, or that was kept of this call
	toKeep   context.Context // of the call of the SDK whose request may be kept
	policies atomic.Int32    // what the witness has seen
}

type callKey struct{}

// context returns the context for the call of the SDK.
func (c *call) context(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, callKey{}, c)
	if c.client.mode.Load() == accelerated {
		if !c.client.noKept.Load() {
			c.toKeep = ctx
		}
		return ctx
	}
	ctx = policy.WithCaptureResponse(ctx, &c.resp)
	if c.prefer {
		ctx = policy.WithHTTPHeader(ctx, http.Header{"Prefer": {"return-no-content"}})
	}
	if c.write {
		// Without the policy, only net/http reports how often azcore tried.
		ctx = c.sent.Context(ctx)
	}
	return ctx
}

// unsent reports whether the call failed with err before anything was sent.
func (c *call) unsent(err error) bool {
	switch {
	case c.seen, c.resp != nil, c.sent.Conns.Load() > 0:
		return false
	case c.client.mode.Load() == accelerated, c.sent.Asked.Load() > 0:
		return true // the call did not reach the policy, or there was no connection
	}
	// Credentials return such errors. Others of this kind come with a reply.
	var failed interface{ NonRetriable() }
	return errors.As(err, &failed) && !azerr.IsFinal(err)
}

// earlierTryOpen reports whether a try before the last may have been carried out. It returns
// true for a transport that does not report its connections.
func (c *call) earlierTryOpen() bool {
	if c.seen {
		return c.earlierOpen
	}
	return c.sent.EarlierOpen()
}

// unanswered reports whether a try of a failed call got no reply, or may have got none: then
// the request may still reach the service. In plain mode only the last reply can be seen; any
// other is taken as one of the service.
func (c *call) unanswered() bool {
	if c.seen {
		return c.noReply
	}
	conns := c.sent.Conns.Load()
	return conns == 0 || c.sent.Replies.Load() < conns || ofGateway(c.resp)
}

// ofGateway reports whether resp is an error that the service did not send: a gateway on
// the way may have stopped waiting for the service.
func ofGateway(resp *http.Response) bool {
	return resp != nil && resp.StatusCode >= http.StatusMultipleChoices && codeOf(resp) == ""
}
