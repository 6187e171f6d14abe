package eventual

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

// Limits of the Queue service.
//
// https://learn.microsoft.com/rest/api/storageservices/put-message
// https://learn.microsoft.com/rest/api/storageservices/get-messages
const (
	maxText       = 64 << 10 // bytes of a message
	maxReceive    = 32       // messages per request
	maxVisibility = 7 * 24 * time.Hour
	neverExpires  = -1 // time to live, in seconds
)

// message is one delivery of a queue message.
type message struct {
	id, popReceipt, text string
	deliveries           int64     // including this one
	inserted             time.Time // by the service's clock
	expires              time.Time // by the service's clock; zero if never
	clock                *calls.Clock
	hosted               bool // passed to Process: the host hides and deletes it, and knows its pop receipt

	// From hidden on, by the clock of this machine, the message is hidden from other
	// clients for the time hiddenFor. Both are zero if it was peeked.
	hidden    time.Time
	hiddenFor time.Duration
}

// hiddenUntil returns the time until which the message is hidden at least.
func (m *message) hiddenUntil() time.Time { return m.hidden.Add(m.hiddenFor) }

// now returns the time by the service's clock or, if that is unknown, by this machine's.
func (m *message) now() time.Time {
	if now, ok := m.clock.Now(); ok {
		return now
	}
	return time.Now()
}

// age returns how long ago the message was put, at least a nanosecond: 0 if that is unknown.
func (m *message) age() time.Duration {
	if m.inserted.IsZero() {
		return 0
	}
	return max(m.now().Sub(m.inserted), 1)
}

// overdue reports whether other clients may have received the message since this one did.
// A host is responsible for that itself.
func (m *message) overdue() bool {
	return !m.hosted && calls.Elapsed(m.hidden) >= m.hiddenFor
}

// expirySlack allows for expiry times and the Date of a reply being in whole seconds.
const expirySlack = 2 * time.Second

// untilExpiry returns d, or the time to the message's expiry if that is shorter. The
// service refuses to hide a message for longer than it lives.
func (m *message) untilExpiry(d time.Duration) time.Duration {
	now, ok := m.clock.Now()
	if !ok || m.expires.IsZero() {
		return d
	}
	return max(min(d, m.expires.Sub(now)-expirySlack), 0)
}

// queue is a queue client whose errors match the sentinels of this package and of
// package patterns. Its keys sign and verify messages, see [Options.SigningKeys].
type queue struct {
	client *azqueue.QueueClient
	keys   [][]byte
}

// add is put for a caller that does not need the names of the message. A client that was
// built with [patterns.LimitReplies] then does not decode them.
func (q queue) add(ctx context.Context, text string, delay, ttl time.Duration) error {
	_, _, err := q.put(limit.WithoutBody(ctx), text, delay, ttl)
	return err
}

// put adds a message that becomes visible after delay and lives for ttl; a ttl of 0
// means that it never expires. One request. If its response is lost, the SDK repeats
// the request and adds a second message.
func (q queue) put(ctx context.Context, text string, delay, ttl time.Duration) (id, popReceipt string, err error) {
	opts := azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(neverExpires))}
	if ttl > 0 {
		opts.TimeToLive = to.Ptr(seconds(ttl))
	}
	if delay > 0 {
		opts.VisibilityTimeout = to.Ptr(seconds(delay))
	}
	var tries calls.Tries
	calls.CountRequest(ctx)
	resp, err := q.client.EnqueueMessage(tries.Context(ctx), text, &opts)
	if err != nil {
		return "", "", writeError(&tries, "put message", err)
	}
	if len(resp.Messages) > 0 && resp.Messages[0] != nil {
		id, popReceipt = deref(resp.Messages[0].MessageID), deref(resp.Messages[0].PopReceipt)
	}
	return id, popReceipt, nil
}

// receive returns up to n messages and hides them from other clients. One request.
func (q queue) receive(ctx context.Context, n int, visibility time.Duration) ([]message, error) {
	hidden := time.Now()
	const op = "get messages"
	var resp azqueue.DequeueMessagesResponse
	err := pages.Call(ctx, op, func(ctx context.Context) (err error) {
		resp, err = q.client.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages:  to.Ptr(int32(n)),
			VisibilityTimeout: to.Ptr(seconds(visibility)),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	var clock calls.Clock
	clock.ObserveDate(resp.Date)
	ms := make([]message, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m == nil || deref(m.MessageID) == "" || deref(m.PopReceipt) == "" {
			return nil, fmt.Errorf("%s: %w: a message without its names", op, azerr.ErrBadReply)
		}
		if len(ms) < n { // the caller has no room for more
			ms = append(ms, message{
				id: deref(m.MessageID), popReceipt: deref(m.PopReceipt), text: deref(m.MessageText), deliveries: deref(m.DequeueCount),
				inserted: deref(m.InsertionTime), expires: deref(m.ExpirationTime), clock: &clock,
				hidden: hidden, hiddenFor: visibility,
			})
		}
	}
	return ms, nil
}

// peek returns the first n visible messages without hiding them. One request.
func (q queue) peek(ctx context.Context, n int) ([]message, error) {
	var resp azqueue.PeekMessagesResponse
	err := pages.Call(ctx, "peek messages", func(ctx context.Context) (err error) {
		resp, err = q.client.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(n))})
		return err
	})
	if err != nil {
		return nil, err
	}
	ms := make([]message, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m != nil {
			ms = append(ms, message{id: deref(m.MessageID), text: deref(m.MessageText), deliveries: deref(m.DequeueCount), inserted: deref(m.InsertionTime)})
		}
	}
	return ms, nil
}

// update replaces the text, and hides the message from now on for the given time or
// until it expires. It stores the new pop receipt in m. A late attempt of the request is
// refused, because its pop receipt is no longer valid. One request.
func (q queue) update(ctx context.Context, m *message, text string, visibility time.Duration) error {
	visibility = m.untilExpiry(visibility)
	hidden := time.Now()
	resp, err := q.client.UpdateMessage(ctx, m.id, m.popReceipt, text, &azqueue.UpdateMessageOptions{
		VisibilityTimeout: to.Ptr(seconds(visibility)),
	})
	if err != nil {
		return sdkerr.NewWrite("update message", err)
	}
	if deref(resp.PopReceipt) == "" {
		return sdkerr.NewWrite("update message", errNoReceipt)
	}
	m.popReceipt, m.text = *resp.PopReceipt, text
	m.hidden, m.hiddenFor = hidden, visibility
	return nil
}

var errNoReceipt = azerr.Errorf("%w: no pop receipt", azerr.ErrBadReply)

// delete deletes a message. One request.
func (q queue) delete(ctx context.Context, id, popReceipt string) error {
	if _, err := q.client.DeleteMessage(ctx, id, popReceipt, nil); err != nil {
		return sdkerr.NewWrite("delete message", err)
	}
	return nil
}

// create creates the queue if it does not exist. One request.
func (q queue) create(ctx context.Context) error {
	if _, err := q.client.Create(ctx, nil); err != nil {
		if e := sdkerr.New("create queue", err); e.Code != "QueueAlreadyExists" { // with other metadata
			return e
		}
	}
	return nil
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// seconds returns d in the service's unit, rounded up.
func seconds(d time.Duration) int32 {
	n := max(d, 0) / time.Second
	if d > n*time.Second {
		n++
	}
	return int32(min(n, 1<<31-1))
}
