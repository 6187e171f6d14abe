package patterns

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/view"
)

// OutboxQueue is the queue of a [Store]'s outbox messages. Package eventual implements it
// on Azure Queue Storage. A message asks a worker to complete an operation that may have
// been interrupted; it may be delivered late, early or more than once. A Store calls its
// methods concurrently. If it also has a method Create(ctx context.Context) error,
// [Store.Create] calls it.
type OutboxQueue interface {
	// Put adds a message that becomes visible after the given time, and never expires.
	Put(ctx context.Context, m OutboxMessage, after time.Duration) (Receipt, error)

	// Delete removes the message. If a worker has received it meanwhile, Delete leaves it
	// to the worker and returns nil.
	Delete(ctx context.Context, r Receipt) error
}

// Receipt identifies a message that was put and has not been received since.
type Receipt struct{ ID, PopReceipt string }

// OutboxMessage asks a worker to complete the operations of one transaction. It contains keys
// and no other data.
type OutboxMessage struct {
	Partition string `json:"p"`  // of the primary
	ID        string `json:"id"` // of the operation

	// Reserved are the rows that the operation reserves before its transaction; most
	// operations reserve none.
	Reserved []RowRef `json:"r,omitempty"`

	// Row is the primary's row key if rows are reserved.
	Row string `json:"k,omitempty"`

	// Others are the other operations of a transaction over several entities. They are in the
	// same partition; their Partition is "".
	Others []OutboxMessage `json:"o,omitempty"`

	// Grace is set if the message was visible immediately, which it is with [Later]. The
	// operation may be in progress until the message has this Age.
	Grace time.Duration `json:"g,omitempty"`

	// Age is how long before its delivery the message was put, by the clock of the queue. It
	// is not stored: who delivers the message sets it. 0 means unknown; then an operation of
	// the Store in progress may have to start over.
	Age time.Duration `json:"-"`
}

// publicMessage returns the public form of m.
func publicMessage(m outbox.Message) OutboxMessage {
	public := OutboxMessage{Partition: m.Partition, ID: m.ID, Row: m.Row, Grace: m.Grace, Age: m.Age}
	for _, r := range m.Reserved {
		public.Reserved = append(public.Reserved, RowRef(r))
	}
	for _, o := range m.Others {
		public.Others = append(public.Others, publicMessage(o))
	}
	return public
}

// engineMessage is the reverse of publicMessage.
func engineMessage(m OutboxMessage) outbox.Message {
	engine := outbox.Message{Partition: m.Partition, ID: m.ID, Row: m.Row, Grace: m.Grace, Age: m.Age}
	for _, r := range m.Reserved {
		engine.Reserved = append(engine.Reserved, view.RowRef(r))
	}
	for _, o := range m.Others {
		engine.Others = append(engine.Others, engineMessage(o))
	}
	return engine
}

// engineQueue is an OutboxQueue as the engine uses it.
type engineQueue struct{ queue OutboxQueue }

func (q engineQueue) Put(ctx context.Context, m outbox.Message, after time.Duration) (outbox.Receipt, error) {
	r, err := q.queue.Put(ctx, publicMessage(m), after)
	return outbox.Receipt(r), err
}

func (q engineQueue) Delete(ctx context.Context, r outbox.Receipt) error {
	return q.queue.Delete(ctx, Receipt(r))
}

// Handle does what an outbox message asks for. Package eventual calls it for each
// message; it may be called for any message, early, late, twice, and by several workers
// concurrently.
//
// If retryAfter is positive, deliver the same message again after that time. If it is
// zero and err is nil, delete the message. After an error deliver it again with back-off;
// move it to the poison queue if the error persists. If retryAfter is positive and err is not
// nil, the operation may be in progress: deliver the message again after that time, and do not
// count the attempt.
//
// The error is a [*ViewMismatchError] if the message concerns a view which the Store does
// not have, or has with another definition. Leave the message to the version of the program
// that has the view: do not count the attempt.
//
// The remote rows of an operation that was applied are brought up to date. An operation
// that was not applied is fenced, so that it can no longer be applied, and the rows that
// it reserved are released.
//
// The first call of a Store in a process finds out whether the views in other tables are this Store's,
// as [Store.Create] does, unless Create or [Store.Sweep] has: one request for each such table, one for each view
// that is new there, and one if the Store has made no request to its own table. Other calls wait for it. If
// a view is that of another table's entities, the error is [ErrBadView], in a [*ViewError] that names the view,
// and nothing is done for any message, until an operator has decided which Store has the view.
func (s *Store[T]) Handle(ctx context.Context, m OutboxMessage) (retryAfter time.Duration, err error) {
	ctx, span := s.engine.Begin(ctx, "handle")
	defer span.End()
	retryAfter, err = s.engine.Process(ctx, engineMessage(m))
	span.Fail(err)
	return retryAfter, err
}
