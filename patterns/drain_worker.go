package patterns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// Handle does what a wake-up asks for: step 4 of the transactional outbox. Package
// eventual calls it for each message; it may be called for any wake-up, early, late,
// twice, and by several workers at once.
//
// again > 0 means: show the same wake-up again after that time. again 0 and no
// error: delete it. After an error show it again after some back-off; an error that
// stays, such as a view that the store does not have any more, belongs into the
// poison queue.
//
// An operation that was carried out has its remote rows made right. One that was
// not is barred from being carried out later, and what it had reserved is released.
func (s *Store[T]) Handle(ctx context.Context, w Wakeup) (again time.Duration, err error) {
	row, err := s.settleOutbox(ctx, w.Partition, w.ID)
	if err == nil {
		again, err = s.attend(ctx, w, row)
	}
	if err != nil {
		return 0, fmt.Errorf("wake-up: %w", err)
	}
	return again, nil
}

// attend does what is due for an operation whose outbox row is known, and says when
// to come again; 0 is never.
func (s *Store[T]) attend(ctx context.Context, w Wakeup, row Item[outboxRow]) (again time.Duration, err error) {
	left := s.opts.Expiry
	if !row.Timestamp.IsZero() { // not written just now
		left = s.opts.Expiry - age(row.Timestamp)
	}
	switch {
	case row.Value.State == stateFence:
		err = s.releaseReserved(ctx, w)
	case row.Value.State == stateDone && left > 0:
	case row.Value.State == stateDone:
		// Somebody who drained the operation side by side with the worker that
		// marked it may have written late, and died. Expiry is beyond that.
		err = s.drainRow(ctx, w, &row)
	default:
		left = s.opts.Expiry
		err = s.takeOver(ctx, w, &row)
	}
	if err != nil || left > 0 {
		return left, err
	}
	err = s.outbox.Delete(ctx, row.Key, row.ETag)
	if errors.Is(err, ErrNotFound) { // another worker, or a sweep, was faster
		err = nil
	}
	return 0, err
}

// takeOver drains an operation and marks it done. It writes its name into the row
// first: from then on the writer, which may still be at work, leaves the row alone.
func (s *Store[T]) takeOver(ctx context.Context, w Wakeup, row *Item[outboxRow]) error {
	row.Value.Worker = newID()
	taken, err := s.outbox.Do(ctx, ReplaceOp(*row))
	if err != nil {
		return err
	}
	if err := s.drainRow(ctx, w, &taken); err != nil {
		return err
	}
	taken.Value.State = stateDone
	_, err = s.outbox.Do(ctx, ReplaceOp(taken))
	return err
}

// drainRow drains the operation of an outbox row.
func (s *Store[T]) drainRow(ctx context.Context, w Wakeup, row *Item[outboxRow]) error {
	places, err := row.Value.places()
	if err != nil {
		return err
	}
	return s.drain(ctx, &drain[T]{
		primary: keys.Key{Partition: w.Partition, Row: row.Value.Row}, op: w.ID, places: places,
	})
}

// releaseReserved makes the rows that a barred operation may have reserved what
// their primary implies without it.
func (s *Store[T]) releaseReserved(ctx context.Context, w Wakeup) error {
	if len(w.Reserved) == 0 {
		return nil
	}
	return s.drain(ctx, &drain[T]{
		primary: keys.Key{Partition: w.Partition, Row: w.Row}, op: w.ID, places: w.Reserved,
	})
}
