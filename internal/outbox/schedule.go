package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/servicetime"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
)

// state is what an operation has in the outbox before it is committed: its message and
// the rows that it has reserved.
type state struct {
	id       string
	receipt  Receipt
	put      bool                         // the message is in the queue
	at       time.Time                    // just before it was put
	named    []view.RowRef                // the rows to reserve that the message names
	reserved map[view.RowRef]*reservation // the rows reserved so far
	fenced   bool                         // no transaction with this id can succeed any more
	open     bool                         // the transaction may have been applied
	unclear  bool                         // a reservation may still be made that reserved does not show
}

// reservation is a row that an operation has reserved.
type reservation struct {
	view *view.View
	etag string // "" unless the operation inserted the row
}

// prepareState assigns an id to the operation. That of an earlier attempt is used again if
// its message names all rows to be reserved now, and is not about to become visible.
func (op *operation) prepareState(ctx context.Context, p *plan) {
	var named []view.RowRef
	for i := range p.remote {
		if d := &p.remote[i]; d.Unique() {
			named = append(named, d.Ref(d.View))
		}
	}
	if st := op.state; st != nil {
		unnamed := func(r view.RowRef) bool { return !slices.Contains(st.named, r) }
		inTime := !st.put || servicetime.Elapsed(st.at) < min(op.store.Grace, op.store.limit())/2
		if !st.fenced && inTime && !slices.ContainsFunc(named, unnamed) {
			return
		}
		op.release(ctx)
	}
	op.state = &state{id: txn.NewID(), named: named, reserved: map[view.RowRef]*reservation{}}
}

// enqueue is step 1: it puts the operation's message in the queue, invisible for the
// grace time.
func (op *operation) enqueue(ctx context.Context) error {
	st := op.state
	if st.put {
		return nil
	}
	m := Message{Partition: op.Key.Partition, ID: st.id, Reserved: st.named}
	if len(st.named) > 0 {
		m.Row = op.Key.Row
	}
	st.at = time.Now()
	receipt, err := op.store.Queue.Put(ctx, m, op.store.Grace)
	if err != nil {
		return fmt.Errorf("%s: outbox message: %w", op.Op, azerr.Seal(err))
	}
	st.receipt, st.put = receipt, true
	return nil
}

// limit is how long after its message was put an operation may still send requests that
// depend on it. A worker that received the message immediately has fenced the operation,
// or brought its rows up to date, and removes the record that shows this after Expiry. The
// other half of Expiry is left for requests that arrive late.
func (s *Store) limit() time.Duration { return s.Expiry / 2 }

// errSlow is the error of an operation that was slower than [Store.limit], for example
// because its process was suspended.
var errSlow = azerr.Sentinel("took longer than half of StoreOptions.Expiry")

// slow converts err into a retryable one if the operation was not applied because within
// ended, which has the limit of the operation as its deadline.
func slow(ctx, within context.Context, err error) error {
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return &retryable{fmt.Errorf("%w: %w", errSlow, err)}
	}
	return err
}

// reserve is step 2: it inserts or marks every unique row that the transaction is going
// to imply, so that no other primary can have it. It also adopts the rows of the old version
// that have no marker: after the transaction a worker could not recognize them.
func (op *operation) reserve(ctx context.Context, p *plan) error {
	for i := range p.remote {
		d := &p.remote[i]
		if d.Adopts() {
			if err := op.adoptRow(ctx, d); err != nil {
				return fmt.Errorf("%s: %w", op.Op, err)
			}
		}
		if !d.Unique() {
			continue
		}
		t, ok := op.store.tableOf(d.View)
		if !ok {
			return fmt.Errorf("%s: %w", op.Op, view.BadView(d.View.Name, "its target takes no unique rows"))
		}
		if err := op.reserveRow(ctx, t, d); err != nil {
			return fmt.Errorf("%s: %w", op.Op, err)
		}
	}
	return nil
}

// adoptRow adds the marker to a row of the old version that has none. One request, two if
// there is such a row, two more for each conflict.
func (op *operation) adoptRow(ctx context.Context, d *view.Diff) error {
	t, ok := op.store.tableOf(d.View)
	if !ok {
		return nil
	}
	c := d.Claim(op.Key)
	for try := 1; ; try++ {
		found, err := txn.ReadRow(ctx, t.Client, d.Key)
		if err != nil {
			return err
		}
		w, needed, err := c.Adoption(found)
		if err != nil || !needed {
			return err
		}
		_, err = t.Client.Write(ctx, w)
		if err = view.Raced(ctx, err); !errors.Is(err, view.ErrRaced) || try >= op.store.Tries {
			return err
		}
	}
}

// reserveRow reserves one row. One request if the row is free, two more for each
// conflict.
func (op *operation) reserveRow(ctx context.Context, t *view.Table, d *view.Diff) error {
	c := d.Claim(op.Key)
	c.Op = op.state.id
	ref := d.Ref(d.View)
	var found txn.Row // assume at first that there is no row
	for try := 1; ; try++ {
		w, changed, err := c.Reservation(found)
		var owned *view.OwnedByOther
		if errors.As(err, &owned) {
			if err := op.resolveOwner(ctx, d, owned, &c); err != nil {
				return err
			}
			w, changed, err = c.Reservation(found)
		}
		if err != nil {
			return err
		}
		r := &reservation{view: d.View}
		inserts := found.Absent()
		if changed {
			r.etag, err = t.Client.Write(ctx, w)
		}
		if err == nil {
			if !inserts {
				r.etag = ""
			}
			op.state.reserved[ref] = r
			return nil
		}
		var e *azerr.Error
		if errors.As(err, &e) && e.Unsure {
			op.state.unclear = true
			op.state.reserved[ref] = &reservation{view: d.View}
		}
		if err = view.Raced(ctx, err); !errors.Is(err, view.ErrRaced) || try >= op.store.Tries {
			return err
		}
		c.Over = nil
		if found, err = txn.ReadRow(ctx, t.Client, d.Key); err != nil {
			return err
		}
	}
}

// resolveOwner decides whether c may have a row that belongs to another primary, or to
// another operation of the same primary. That operation must be decided before its mark
// is removed, because nothing would hold the row for it afterwards.
func (op *operation) resolveOwner(ctx context.Context, d *view.Diff, owned *view.OwnedByOther, c *view.CopyClaim) error {
	if owned.Known && owned.Owner == op.Key {
		c.Decided = owned.Op
		return op.store.fenceIfUndecided(ctx, op.Key.Partition, owned.Op)
	}
	free, err := op.store.mayOverwrite(ctx, d.View, d.Key, owned)
	if err == nil && !free {
		err = &view.DuplicateError{View: d.View.Name, Key: d.Key}
	}
	c.Over = &owned.Owner
	return err
}

// release removes the reservations and the message of an operation that was not
// applied and will not be under its present id. What fails here, a worker completes.
func (op *operation) release(ctx context.Context) {
	st := op.state
	op.state = nil
	if st == nil || !st.put || st.open || ctx.Err() != nil {
		return
	}
	released := true
	for ref, r := range st.reserved {
		if err := op.releaseRow(ctx, st, ref, r); err != nil {
			released = false
		}
	}
	if released && !st.fenced && !st.unclear && !op.late.Any() { // otherwise the message is still needed
		_ = op.store.Queue.Delete(ctx, st.receipt)
	}
}

func (op *operation) releaseRow(ctx context.Context, st *state, ref view.RowRef, r *reservation) error {
	s := op.store
	if t, ok := s.tableOf(r.view); ok && r.etag != "" {
		_, err := t.Client.Write(ctx, txn.Delete(ref.Key(), r.etag))
		if err == nil || errors.Is(err, azerr.ErrNotFound) {
			return nil
		}
	}
	_, err := s.drain(ctx, &drain{primary: op.Key, op: st.id, refs: []view.RowRef{ref}, began: st.at})
	return err
}
