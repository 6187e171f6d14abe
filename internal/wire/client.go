package wire

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Client makes requests to one table through an aztables client, in one of two modes. In
// accelerated mode the policy of [Accelerate] is in the client's pipeline, and aztables
// does not handle bodies. In plain mode aztables encodes and decodes bodies too, and the
// reply is read from the captured response. The first call determines the mode.
//
// A Client is safe for concurrent use.
type Client struct {
	// Tracer begins the spans of operations. It is set before the first of them.
	Tracer tracing.Tracer

	table     *aztables.Client
	mode      atomic.Int32
	address   atomic.Pointer[Address]
	lastReply atomic.Int64 // size of the last reply, the estimate for the next
	clock     calls.Clock

	kept   [requestKinds]sync.Pool // of *kept
	noKept atomic.Bool             // requests of this client cannot be kept
}

const (
	unknownMode = iota
	plain
	accelerated
)

// NewClient wraps table. It makes no request.
func NewClient(table *aztables.Client) *Client { return &Client{table: table} }

// Table returns the client that was passed to NewClient.
func (c *Client) Table() *aztables.Client { return c.table }

// Age returns how long ago t was by the clock of the service, which the replies to this
// client show. See [calls.Clock].
func (c *Client) Age(t time.Time) time.Duration { return c.clock.Age(t) }

// ServiceTime returns the time of the service; ok is false if no reply has shown it yet.
func (c *Client) ServiceTime() (now time.Time, ok bool) { return c.clock.Now() }

// LatestServiceTime returns the latest time that the service may have now; ok is false if
// no reply has shown its time yet. See [calls.Clock.Latest].
func (c *Client) LatestServiceTime() (latest time.Time, ok bool) { return c.clock.Latest() }

// run makes one call of the SDK and records in which mode it ran. It calls send, unless an
// earlier request of the same kind was kept.
func (c *Client) run(ctx context.Context, op string, k *call, send func(context.Context) error) error {
	if err := checkContext(ctx, op); err != nil {
		return err
	}
	calls.CountRequest(ctx)
	asked := time.Now()
	var err error
	if k.takeKept(); k.kept != nil {
		err = k.kept.send(context.WithValue(ctx, callKey{}, k), &k.requestTarget)
		k.putKept()
	} else {
		err = send(k.context(ctx))
		k.keep()
		if k.resp != nil {
			pages.PassOn(ctx, k.resp)
		}
	}
	if !k.seen && k.resp != nil {
		c.mode.CompareAndSwap(unknownMode, plain)
		_ = c.recordAddress(k.resp.Request) // fails for a transaction, whose body has been read
		c.clock.Observe(k.resp.Header, asked)
	}
	if err != nil {
		return k.fail(op, err)
	}
	if k.receive == nil || k.received {
		return nil
	}
	if k.resp == nil {
		return &types.Error{Op: op, Kind: azerr.ErrBadReply, Err: errNoReply, Unsure: k.write}
	}
	body, err := runtime.Payload(k.resp)
	if err == nil {
		k.received = true
		err = k.receive(k.resp, body)
	}
	if err != nil {
		return k.fail(op, err)
	}
	return nil
}

// errNoReply is a call that ended without an error and without a reply.
var errNoReply = azerr.Sentinel("no reply was captured")
