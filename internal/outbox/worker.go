package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
)

// Process does what a message asks for. It may be called for any message, early, late,
// twice, and by several workers concurrently.
//
// If retryAfter is positive the message is to be delivered again after that time. If it
// is zero and err is nil, the message is to be deleted. After an error the message is to
// be delivered again with back-off.
//
// The error is a [*view.MismatchError] if the message concerns a view which the Store does
// not have, or has with another definition: it is left to another version of the program.
func (s *Store) Process(ctx context.Context, m Message) (retryAfter time.Duration, err error) {
	began := time.Now()
	err = s.knows(m.Reserved, "")
	if err == nil {
		var r record
		if r, err = s.decide(ctx, m.Partition, m.ID); err == nil {
			retryAfter, err = s.processRecord(ctx, m, &r, began)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("outbox message: %w", err)
	}
	return retryAfter, nil
}

// processRecord does what is due for an operation whose outbox row is known, and was not
// before began. A record is removed Expiry after it was stored.
func (s *Store) processRecord(ctx context.Context, m Message, r *record, began time.Time) (retryAfter time.Duration, err error) {
	refs, err := r.refs()
	if err == nil {
		err = s.knows(refs, view.Listing(r.Views))
	}
	if err != nil {
		return 0, err
	}
	if r.State == statePending {
		return s.Expiry, s.acquire(ctx, m, r, began)
	}
	left := s.Expiry
	if !r.Timestamp.IsZero() { // it was read, not written just now
		left = s.Expiry - s.Table.Client.Age(r.Timestamp)
	}
	if left > 0 {
		if r.State == stateFence {
			_, err = s.releaseReserved(ctx, m, began)
		}
		return left, err
	}
	return s.remove(ctx, m, r, began)
}

// acquire drains an operation and marks it done. It first stores its own name in the
// row: from then on the writer, which may still be at work, does not delete the row.
func (s *Store) acquire(ctx context.Context, m Message, r *record, began time.Time) error {
	r.Worker = txn.NewID()
	acquired, err := s.replaceRecord(ctx, *r)
	if err != nil {
		return err
	}
	if _, err := s.drainRecord(ctx, m, &acquired, began); err != nil {
		return err
	}
	acquired.State = stateDone
	_, err = s.replaceRecord(ctx, acquired)
	return err
}

// remove is the late check, which deletes the record of an operation. Since the rows were
// brought up to date, a late request, or another client that drained the operation
// concurrently and crashed, may have changed a row. The limits of both are shorter than
// Expiry. The check may leave such a request itself, so it stores the record again before it
// writes anything: the record stays for another Expiry if the worker crashes, or if there
// was a row to correct.
func (s *Store) remove(ctx context.Context, m Message, r *record, began time.Time) (retryAfter time.Duration, err error) {
	renewed, err := s.replaceRecord(ctx, *r)
	if errors.Is(err, azerr.ErrNotFound) { // another worker, or a sweep, was faster
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var wrote bool
	if r.State == stateFence {
		wrote, err = s.releaseReserved(ctx, m, began)
	} else {
		wrote, err = s.drainRecord(ctx, m, r, began)
	}
	switch {
	case err != nil:
		return 0, err
	case wrote: // or sent a write that may still arrive
		return s.Expiry, nil
	}
	err = s.deleteRecord(ctx, r.Key, renewed.ETag)
	if errors.Is(err, azerr.ErrNotFound) { // a sweep was faster
		err = nil
	}
	return 0, err
}

// drainRecord drains the operation of an outbox row.
func (s *Store) drainRecord(ctx context.Context, m Message, r *record, began time.Time) (wrote bool, err error) {
	refs, err := r.refs()
	if err != nil {
		return false, err
	}
	return s.drain(ctx, &drain{primary: keys.Key{Partition: m.Partition, Row: r.Row}, op: m.ID, refs: refs, began: began})
}

// releaseReserved brings the rows that a fenced operation may have reserved up to date
// with their primary, which does not include the operation.
func (s *Store) releaseReserved(ctx context.Context, m Message, began time.Time) (wrote bool, err error) {
	if len(m.Reserved) == 0 {
		return false, nil
	}
	return s.drain(ctx, &drain{primary: keys.Key{Partition: m.Partition, Row: m.Row}, op: m.ID, refs: m.Reserved, began: began})
}
