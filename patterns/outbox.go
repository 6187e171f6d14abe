package patterns

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// The queue of a Store's outbox messages. Package types documents the fields.
type (
	// OutboxQueue is the queue of a [Store]'s outbox messages. Package eventual implements it
	// on Azure Queue Storage.
	OutboxQueue = types.OutboxQueue

	// OutboxMessage asks a worker to complete the operations of a transaction, or of several of one partition; see [Store.Handle].
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

// Finisher finishes the operations of Stores after their calls have returned, those of a partition together. A change with rows
// outside the partition then takes two round trips until it is committed and one more until these rows are written: the call
// returns after that. Without a Finisher it also reads the entity again, and deletes the outbox row and the message,
// which takes up to three round trips more.
//
// The Finisher reads 14 entities or more in one request, and deletes up to 100 outbox rows in one transaction, followed by the messages. It also
// puts one message for the transactions that begin while another message of the partition is being put; these wait for that, up to one
// more round trip. If another client has changed an entity meanwhile, its rows are brought up to date again. So until an operation is
// finished, a row outside the partition may be that of a version which a concurrent change has replaced.
//
// What a Finisher holds is work, not data: if its process ends, workers find the operations through their messages, and do the same.
//
// Pass it to Stores as StoreOptions.Finisher, one for all Stores of a program. With [Later] it only puts messages together. It is
// safe for concurrent use. Its goroutines end with Close.
type Finisher struct{ engine *outbox.Finisher } // nil and the zero value finish nothing

// FinisherOptions are the options of [NewFinisher]. nil and the zero value select the defaults.
type FinisherOptions struct {
	// MaxHeld is how many transactions are held, each of which takes about a kilobyte, and more with long keys. The calls of
	// further ones finish them. Zero means 1000.
	MaxHeld int

	// MaxAge is how long a transaction is held. Zero, and more than that, mean a quarter of the Grace of its Store.
	MaxAge time.Duration

	// Wait is how long a message waits for those of other transactions of the partition, if none is being put. A change takes
	// longer by that, and many concurrent ones take fewer requests. It should be far shorter than Grace. Zero means not at all.
	Wait time.Duration
}

const defaultMaxHeld = 1000

// NewFinisher returns a Finisher. It makes no request, and starts no goroutine before a Store uses it.
func NewFinisher(opts *FinisherOptions) (*Finisher, error) {
	o := *cmp.Or(opts, &FinisherOptions{})
	if err := cmp.Or(azerr.Default(&o.MaxHeld, defaultMaxHeld, "MaxHeld"), azerr.Default(&o.MaxAge, 0, "MaxAge"), azerr.Default(&o.Wait, 0, "Wait")); err != nil {
		return nil, fmt.Errorf("new finisher: %w", err)
	}
	return &Finisher{outbox.NewFinisher(o.MaxHeld, o.MaxAge, o.Wait)}, nil
}

// engineOf returns nil for nil.
func engineOf(f *Finisher) *outbox.Finisher {
	if f == nil {
		return nil
	}
	return f.engine
}

// Flush finishes what is held, and returns when that is done, or with the error of ctx when that ends. It does not wait for
// transactions in progress. What could not be finished was left to workers: see [FinisherStats].
func (f *Finisher) Flush(ctx context.Context) error {
	if f == nil || f.engine == nil {
		return nil
	}
	if err := f.engine.Flush(ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Close finishes what is held, and the transactions in progress, and returns when that is done. Later ones are finished in their
// calls, so the Stores can still be used. If ctx ends, Close returns its error, and leaves the rest to workers. OnPending of a Store must call
// neither Flush nor Close: they would wait for it.
func (f *Finisher) Close(ctx context.Context) error {
	if f == nil || f.engine == nil {
		return nil
	}
	if err := f.engine.Close(ctx); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// FinisherStats are the figures of a [Finisher].
type FinisherStats = types.FinisherStats

// Stats returns the figures of f since it was made.
func (f *Finisher) Stats() FinisherStats {
	if f == nil || f.engine == nil {
		return FinisherStats{}
	}
	return f.engine.Stats()
}
