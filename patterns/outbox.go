package patterns

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/patterns/types"
)

// The queue of a Store's outbox messages. Package types documents the fields.
type (
	// OutboxQueue is the queue of a [Store]'s outbox messages. Package eventual implements it
	// on Azure Queue Storage.
	OutboxQueue = types.OutboxQueue

	// OutboxMessage asks a worker to complete the operations of one transaction; see [Store.Handle].
	// It contains keys and no other data.
	OutboxMessage = types.OutboxMessage

	// Receipt identifies a message that was put and has not been received since.
	Receipt = types.Receipt
)

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
	retryAfter, err = s.engine.Process(ctx, m)
	span.Fail(err)
	return retryAfter, err
}
