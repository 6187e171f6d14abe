package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// Process does what a message asks for. It may be called for any message, early, late,
// twice, and by several workers concurrently.
//
// If retryAfter is positive the message is to be delivered again after that time. If it
// is zero and err is nil, the message is to be deleted. After an error the message is to
// be delivered again with back-off.
func (s *Store) Process(ctx context.Context, m Message) (retryAfter time.Duration, err error) {
	r, err := s.decide(ctx, m.Partition, m.ID)
	if err == nil {
		retryAfter, err = s.processRecord(ctx, m, &r)
	}
	if err != nil {
		return 0, fmt.Errorf("outbox message: %w", err)
	}
	return retryAfter, nil
}

// processRecord does what is due for an operation whose outbox row is known.
func (s *Store) processRecord(ctx context.Context, m Message, r *record) (retryAfter time.Duration, err error) {
	left := s.Expiry
	if !r.Timestamp.IsZero() { // it was read, not written just now
		left = s.Expiry - age(r.Timestamp)
	}
	switch {
	case r.State == stateFence:
		err = s.releaseReserved(ctx, m)
	case r.State == stateDone && left > 0:
	case r.State == stateDone:
		// A client that drained the operation concurrently with the worker that marked it
		// may have written late, and crashed. Expiry is longer than that can take.
		err = s.drainRecord(ctx, m, r)
	default:
		left = s.Expiry
		err = s.acquire(ctx, m, r)
	}
	if err != nil || left > 0 {
		return left, err
	}
	err = s.deleteRecord(ctx, r.Key, r.ETag)
	if errors.Is(err, azerr.ErrNotFound) { // another worker, or a sweep, was faster
		err = nil
	}
	return 0, err
}

// acquire drains an operation and marks it done. It first stores its own name in the
// row: from then on the writer, which may still be at work, does not delete the row.
func (s *Store) acquire(ctx context.Context, m Message, r *record) error {
	r.Worker = txn.NewID()
	acquired, err := s.replaceRecord(ctx, *r)
	if err != nil {
		return err
	}
	if err := s.drainRecord(ctx, m, &acquired); err != nil {
		return err
	}
	acquired.State = stateDone
	_, err = s.replaceRecord(ctx, acquired)
	return err
}

// drainRecord drains the operation of an outbox row.
func (s *Store) drainRecord(ctx context.Context, m Message, r *record) error {
	refs, err := r.refs()
	if err != nil {
		return err
	}
	return s.drain(ctx, &drain{primary: keys.Key{Partition: m.Partition, Row: r.Row}, op: m.ID, refs: refs})
}

// releaseReserved brings the rows that a fenced operation may have reserved up to date
// with their primary, which does not include the operation.
func (s *Store) releaseReserved(ctx context.Context, m Message) error {
	if len(m.Reserved) == 0 {
		return nil
	}
	return s.drain(ctx, &drain{primary: keys.Key{Partition: m.Partition, Row: m.Row}, op: m.ID, refs: m.Reserved})
}

// age is how long ago the service wrote a row, by this process's clock.
func age(at time.Time) time.Duration { return time.Since(at) }
