package eventual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// Outbox stores the outbox messages of a [patterns.Store] in a queue, which may contain
// other messages too. Pass it to the Store as its outbox, and let a worker process the
// messages with [HandleOutbox]. Create it with [NewOutbox]. It may be used concurrently.
type Outbox struct {
	queue queue
	kind  string
}

var _ patterns.OutboxQueue = (*Outbox)(nil)

// OutboxOptions are the options of [NewOutbox]. nil and the zero value mean the defaults.
type OutboxOptions struct {
	// SigningKeys is a ring of keys, the first of which signs the messages, for workers that
	// require it: see [Options.SigningKeys]. nil signs nothing.
	SigningKeys [][]byte
}

// NewOutbox returns an Outbox. Stores that share a queue need different names, of which
// one may be "". A name consists of up to 64 letters, digits and the characters
// - _ . : /; for any other name the error matches [ErrBadKind]. NewOutbox makes no
// request.
func NewOutbox(queueClient *azqueue.QueueClient, name string, opts *OutboxOptions) (*Outbox, error) {
	if queueClient == nil {
		return nil, fmt.Errorf("new outbox: queue: %w", patterns.ErrNil)
	}
	kind, err := outboxKind(name)
	keys := cmp.Or(opts, &OutboxOptions{}).SigningKeys
	if err == nil {
		err = checkKeys("OutboxOptions.SigningKeys", keys)
	}
	if err != nil {
		return nil, fmt.Errorf("new outbox: %w", err)
	}
	return &Outbox{queue{queueClient, copyKeys(keys)}, kind}, nil
}

const maxOutboxName = 64 // bytes

// outboxKind returns the kind of the outbox messages of one store.
func outboxKind(name string) (string, error) {
	if name == "" {
		return reservedKinds + "outbox", nil
	}
	if len(name) > maxOutboxName {
		return "", fmt.Errorf("%w: name of the outbox has more than %d bytes", ErrBadKind, maxOutboxName)
	}
	kind := "outbox." + name
	return reservedKinds + kind, checkKind(kind)
}

// Create creates the queue; it is not an error if the queue exists. One request.
// [patterns.Store.Create] calls it.
func (o *Outbox) Create(ctx context.Context) error {
	if o == nil || o.queue.client == nil {
		return fmt.Errorf("outbox: queue: %w", patterns.ErrNil)
	}
	if err := o.queue.create(ctx); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// Put adds an outbox message that becomes visible after delay and never expires. One
// request. If its response is lost, the SDK adds a second message, which is processed
// like a duplicate.
func (o *Outbox) Put(ctx context.Context, w patterns.OutboxMessage, delay time.Duration) (patterns.Receipt, error) {
	if o == nil || o.queue.client == nil {
		return patterns.Receipt{}, fmt.Errorf("outbox: queue: %w", patterns.ErrNil)
	}
	body, err := marshal(w)
	if err != nil {
		return patterns.Receipt{}, fmt.Errorf("outbox: %w", azerr.Seal(err))
	}
	e := envelope{Version: envelopeVersion, ID: w.ID, Kind: o.kind, At: time.Now().UTC(), Body: body, Trace: calls.TraceOf(ctx)}
	text, err := e.encode(o.queue)
	if err == nil && len(text) > maxText && e.Trace != "" {
		e.Trace = ""
		text, err = e.encode(o.queue)
	}
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%w: outbox message of %d bytes", patterns.ErrTooLarge, len(text))
	}
	var r patterns.Receipt
	if err == nil {
		r.ID, r.PopReceipt, err = o.queue.put(ctx, text, min(delay, maxVisibility), 0)
	}
	if err != nil {
		return patterns.Receipt{}, fmt.Errorf("outbox: %w", err)
	}
	return r, nil
}

// Delete deletes an outbox message, unless a worker has received it since it was added.
// In that case the worker deletes it. One request.
func (o *Outbox) Delete(ctx context.Context, r patterns.Receipt) error {
	if o == nil || o.queue.client == nil {
		return fmt.Errorf("outbox: queue: %w", patterns.ErrNil)
	}
	if err := o.queue.delete(ctx, r.ID, r.PopReceipt); err != nil && !errors.Is(err, ErrLeaseLost) {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// Drainer finishes operations that were interrupted. A [patterns.Store] is one. A Worker
// calls Handle concurrently.
type Drainer interface {
	// Handle processes an outbox message. If retryAfter is positive, the work is done
	// except for the late check, for which the same message is to be delivered again after
	// that time. An error means that the message is to be delivered again soon; with a
	// positive retryAfter, that it came too early and is to be delivered again after that time.
	Handle(ctx context.Context, w patterns.OutboxMessage) (retryAfter time.Duration, err error)
}

// outboxAttempts is the number of attempts for an outbox message. With the default
// backoff they last 16 hours. Attempts are cheap, whereas an operation whose message
// became poison is found only by the Sweep of the store.
const outboxAttempts = 100

// mismatchDelay is how long a message is left to the workers of another version of the
// program, which has the views that the message names.
const mismatchDelay = time.Minute

// HandleOutbox registers the handler of the outbox messages of one store: see [Worker].
// name is the name of the store's [Outbox], which must use the worker's queue. The handler
// finishes the operations that other processes left unfinished. A message has 100
// attempts, regardless of [Options.Tries]. A delivery that fails with a
// [*patterns.ViewMismatchError] is not an attempt: the message is hidden for a minute, for a
// worker of another version of the program. Its Outcome is [Snoozed].
//
// If a view of the store belongs to the entities of another table, every delivery fails with
// [patterns.ErrBadView] and is an attempt; see [patterns.View]. The messages are retried, and after
// 100 attempts moved to the poison queue, from which [PoisonQueue.Replay] returns them
// when an operator has decided which store has the view.
//
// An operation that a worker has finished is checked once more when Expiry of the Store's
// options has passed; then its record is removed. Until then its message is hidden on the
// worker's queue, or moved to [Options.LateChecks]. A worker of that queue needs the same
// registrations. The Outcome of a delivery that leaves the late check is [Snoozed].
func HandleOutbox(w *Worker, name string, store Drainer) {
	kind, err := outboxKind(name)
	if err == nil && store == nil {
		err = fmt.Errorf("%w: store: %w", ErrBadKind, patterns.ErrNil)
	}
	w.handle(kind, err, handler{outboxAttempts, func(ctx context.Context, d *delivery) error {
		var m patterns.OutboxMessage
		if err := d.decode(&m); err != nil {
			return Cancel("", err)
		}
		m.Age = d.m.age()
		retryAfter, err := store.Handle(ctx, m)
		switch {
		case errors.Is(err, ErrBadMessage):
			return Cancel("", err)
		case err != nil && retryAfter > 0:
			return Snooze(retryAfter)
		case err == nil && retryAfter > 0:
			return &lateCheckError{snoozeError{retryAfter}}
		case errors.As(err, new(*patterns.ViewMismatchError)):
			return Snooze(mismatchDelay)
		}
		return err
	}})
}
