package eventual

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// Limits of the Queue service.
//
// https://learn.microsoft.com/rest/api/storageservices/put-message
// https://learn.microsoft.com/rest/api/storageservices/get-messages
const (
	maxText  = 64 << 10 // bytes of a message
	maxFetch = 32
	maxHide  = 7 * 24 * time.Hour
	forever  = -1 // seconds to live
)

// message is one delivery of a message of a queue.
type message struct {
	id, receipt, text string
	count             int64     // deliveries, this one included
	inserted          time.Time // by the service's clock
	dies              time.Time // when it expires, by this process's; zero: never, or not known
}

// clockSlack is how far off the end of a message's life may be, which is known in whole
// seconds.
const clockSlack = 2 * time.Second

// within is d, or less where the message expires before: no longer will the service hide
// it.
func (m *message) within(d time.Duration) time.Duration {
	if m.dies.IsZero() {
		return d
	}
	return max(min(d, time.Until(m.dies)-clockSlack), 0)
}

// queue is a queue's client, with errors that say what they mean.
type queue struct{ client *azqueue.QueueClient }

// put adds a message that is shown after the given time and lives for ttl, where 0
// is for ever. One request. A reply that is lost on the way leaves the SDK to put
// the message a second time.
func (q queue) put(ctx context.Context, text string, after, ttl time.Duration) (id, receipt string, err error) {
	opts := azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(forever))}
	if ttl > 0 {
		opts.TimeToLive = to.Ptr(seconds(ttl))
	}
	if after > 0 {
		opts.VisibilityTimeout = to.Ptr(seconds(after))
	}
	// The SDK tells of its last try only; a try before may have put the message. Of a
	// transport that does not report its connections nothing is known.
	var tries atomic.Int32
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { tries.Add(1) }})
	resp, err := q.client.EnqueueMessage(traced, text, &opts)
	if err != nil {
		return "", "", failAfter(int(tries.Load()), "put message", err)
	}
	if len(resp.Messages) > 0 && resp.Messages[0] != nil {
		id, receipt = deref(resp.Messages[0].MessageID), deref(resp.Messages[0].PopReceipt)
	}
	return id, receipt, nil
}

// get takes up to n messages and hides them from others. One request.
func (q queue) get(ctx context.Context, n int, hide time.Duration) ([]message, error) {
	resp, err := q.client.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(n)),
		VisibilityTimeout: to.Ptr(seconds(hide)),
	})
	if err != nil {
		return nil, fail("get messages", err, false)
	}
	ms := make([]message, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m != nil && len(ms) < n { // the caller has no room for more
			ms = append(ms, message{
				id: deref(m.MessageID), receipt: deref(m.PopReceipt), text: deref(m.MessageText), count: deref(m.DequeueCount),
				inserted: deref(m.InsertionTime), dies: end(m.ExpirationTime, resp.Date),
			})
		}
	}
	return ms, nil
}

// end is the time of this process at which it will be the given time of the service,
// where it is now.
func end(at, now *time.Time) time.Time {
	if at == nil || now == nil {
		return time.Time{}
	}
	return time.Now().Add(at.Sub(*now))
}

// peek looks at the first messages. One request.
func (q queue) peek(ctx context.Context, n int) ([]message, error) {
	resp, err := q.client.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(n))})
	if err != nil {
		return nil, fail("peek messages", err, false)
	}
	ms := make([]message, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m != nil {
			ms = append(ms, message{id: deref(m.MessageID), text: deref(m.MessageText), count: deref(m.DequeueCount), inserted: deref(m.InsertionTime)})
		}
	}
	return ms, nil
}

// update sets the text, and how long the message stays hidden from now on, but for as
// long as it lives. The receipt is a new one afterwards. One request.
func (q queue) update(ctx context.Context, m *message, text string, hide time.Duration) error {
	resp, err := q.client.UpdateMessage(ctx, m.id, m.receipt, text, &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(seconds(m.within(hide)))})
	if err != nil {
		return fail("update message", err, true)
	}
	m.receipt, m.text = deref(resp.PopReceipt), text
	return nil
}

// remove deletes a message. One request.
func (q queue) remove(ctx context.Context, id, receipt string) error {
	_, err := q.client.DeleteMessage(ctx, id, receipt, nil)
	return fail("delete message", err, true)
}

// create creates the queue; one that exists is fine. One request.
func (q queue) create(ctx context.Context) error {
	_, err := q.client.Create(ctx, nil)
	if err = fail("create queue", err, false); hasCode(err, "QueueAlreadyExists") {
		return nil // with other metadata
	}
	return err
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// seconds is d in the service's unit, rounded up.
func seconds(d time.Duration) int32 {
	n := max(d, 0) / time.Second
	if d > n*time.Second {
		n++
	}
	return int32(min(n, 1<<31-1))
}
