package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// state is what a transaction has in the outbox before it is committed: its message and
// the rows that it has reserved.
type state struct {
	message *sentMessage  // nil: it is not in the queue
	tried   chan struct{} // of this attempt; is closed when message is final
	at      time.Time     // just before the first try to put it, and to reserve a row
	parts   []*operationState
	fenced  bool // no transaction with these ids can succeed any more
	open    bool // the transaction may have been applied

	mu      sync.Mutex // guards what follows, the reservations of the parts, and drain.early
	unclear bool       // a reservation may still be made that its part does not show
}

// add records a reservation.
func (st *state) add(pt *operationState, ref types.RowRef, r *reservation, unclear bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	pt.reserved[ref] = r
	st.unclear = st.unclear || unclear
}

// operationState is the state of one operation, which has an outbox row.
type operationState struct {
	id       string
	primary  keys.Key
	named    []types.RowRef                // the rows to reserve that the message names
	reserved map[types.RowRef]*reservation // the rows reserved so far
}

// reservation is a row that an operation has reserved.
type reservation struct {
	view *view.View
	etag string // "" unless the operation inserted the row
}

// prepareState assigns an id to each operation that needs an outbox row. Those of an earlier
// attempt are used again if its message names all rows to be reserved now, and is not about
// to become visible. That holds also if the message could not be put: a reservation was possibly
// faster, so that another process may have fenced the operation and removed the fence since.
func (t *transaction) prepareState(ctx context.Context) {
	var parts []*operationState
	for _, op := range t.needOutbox() {
		pt := &operationState{id: txn.NewID(), primary: op.Key, reserved: map[types.RowRef]*reservation{}}
		for i := range op.remote {
			if d := &op.remote[i]; d.Unique() {
				pt.named = append(pt.named, d.Ref(d.View))
			}
		}
		parts = append(parts, pt)
	}
	if st := t.state; st != nil && !t.reusable(st, parts) {
		t.release(ctx)
	}
	if t.state == nil {
		t.state = &state{parts: parts}
	}
	for _, pt := range t.state.parts {
		t.of(pt.primary).part = pt
	}
}

// reusable reports whether the state of an earlier attempt covers parts.
func (t *transaction) reusable(st *state, parts []*operationState) bool {
	inTime := calls.Elapsed(st.at) < min(t.store.Grace, t.store.limit())/2
	if st.fenced || !inTime {
		return false
	}
	for _, pt := range parts {
		i := slices.IndexFunc(st.parts, func(o *operationState) bool { return o.primary == pt.primary })
		if i < 0 {
			return false
		}
		unnamed := func(r types.RowRef) bool { return !slices.Contains(st.parts[i].named, r) }
		if slices.ContainsFunc(pt.named, unnamed) {
			return false
		}
	}
	return true
}

// naming is the outbox message of a transaction, which names all operations.
func (st *state) naming(partition string) types.OutboxMessage {
	var m types.OutboxMessage
	for i, pt := range st.parts {
		one := types.OutboxMessage{ID: pt.id, Reserved: pt.named}
		if len(pt.named) > 0 {
			one.Row = pt.primary.Row
		}
		if i == 0 {
			m = one
			m.Partition = partition
		} else {
			m.Others = append(m.Others, one)
		}
	}
	return m
}

// prepare is what comes before the transaction: it puts the message, reserves the rows, and reads those
// that the drains need, concurrently. After a failure it reserves and reads no further row. It cancels no
// request, because the outcome would be unknown.
func (t *transaction) prepare(ctx, within context.Context, drains []*drain) error {
	var failed atomic.Bool
	steps := t.reservations(within, drains, &failed)
	if t.state.message == nil {
		t.state.tried = make(chan struct{})
		steps = slices.Insert(steps, 0, func() error { return t.enqueue(ctx) })
	}
	steps = append(steps, func() error { return t.lookups.put(ctx) })
	steps = append(steps, t.store.follow.before(within, t, drains, &failed)...)
	errs := make([]error, len(steps))
	t.store.each(len(steps), func(i int) {
		if errs[i] = steps[i](); errs[i] != nil {
			failed.Store(true)
		}
	})
	for _, err := range errs {
		if err != nil {
			return slow(ctx, within, err)
		}
	}
	return nil
}

// enqueue is step 1: it puts the transaction's message in the queue, invisible for the
// grace time or, if a worker is to do what follows the transaction, visible immediately.
func (t *transaction) enqueue(ctx context.Context) error {
	st := t.state
	defer close(st.tried)
	m, hidden := st.naming(t.partition()), t.store.Grace
	if t.store.Later && !t.hide {
		m.Grace, hidden = hidden, 0
	}
	var err error
	if st.message, err = t.store.put(ctx, t.store, m, hidden); err != nil {
		return fmt.Errorf("%s: outbox message: %w", t.name(), azerr.Seal(err))
	}
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

// reservations returns step 2, a function for each row. It inserts or marks every unique row
// that the transaction is going to imply, so that no other primary can have it. It also adopts
// the rows of the old version that have no marker: after the transaction a worker could not
// recognize them. A function does nothing if failed is set.
func (t *transaction) reservations(ctx context.Context, drains []*drain, failed *atomic.Bool) (steps []func() error) {
	for _, op := range t.changed {
		for i := range op.remote {
			d := &op.remote[i]
			step := t.reserveRow
			switch {
			case d.Adopts():
				of := drains[slices.IndexFunc(drains, func(of *drain) bool { return of.primary == op.Key })]
				step = func(ctx context.Context, _ *operation, d *view.Diff) error { return t.adoptRow(ctx, of, d) }
			case !d.Unique():
				continue
			}
			steps = append(steps, func() error {
				if failed.Load() {
					return nil
				}
				if err := step(ctx, op, d); err != nil {
					return op.failed(fmt.Errorf("%s: %w", op.Op, err))
				}
				return nil
			})
		}
	}
	return steps
}

// adoptRow adds the marker to a row of the old version that has none. One request, two if
// there is such a row, two more for each conflict. The drain inserts a row that does not exist without reading it again.
func (t *transaction) adoptRow(ctx context.Context, of *drain, d *view.Diff) error {
	table, ok := t.store.tableOf(d.View)
	if !ok {
		return nil
	}
	c := d.Claim()
	for try := 1; ; try++ {
		found, err := txn.ReadRow(ctx, table.Client, d.Key)
		if err != nil {
			return err
		}
		w, needed, err := c.Adoption(found)
		if err != nil || !needed {
			if found.Absent() && d.New != nil {
				t.state.mu.Lock()
				of.early[d.Ref(d.View)] = view.Found{Row: found}
				t.state.mu.Unlock()
			}
			return err
		}
		_, err = table.Client.Write(ctx, w)
		if err = view.Raced(ctx, err); !errors.Is(err, view.ErrRaced) || try >= t.store.Tries {
			return err
		}
	}
}

// reserveRow reserves one row. One request if the row is free, two more for each
// conflict. Until the message is in the queue it only inserts a row: readers ignore it, and
// the next operation that needs the key fences this one. A mark on a row that exists would keep
// other operations from removing the row.
func (t *transaction) reserveRow(ctx context.Context, op *operation, d *view.Diff) error {
	table, ok := t.store.tableOf(d.View)
	if !ok {
		return view.BadView(d.View.Name, "its target takes no unique rows")
	}
	c := d.Claim()
	c.Op = op.part.id
	ref := d.Ref(d.View)
	var found txn.Row // assume at first that there is no row
	for try := 1; ; try++ {
		w, changed, err := c.Reservation(found)
		var owned *view.OwnedByOther
		if errors.As(err, &owned) {
			if err := t.store.resolveOwner(ctx, d, owned, &c); err != nil {
				return err
			}
			w, changed, err = c.Reservation(found)
		}
		if err != nil {
			return err
		}
		r := &reservation{view: d.View}
		inserts := found.Absent()
		if !inserts {
			if <-t.state.tried; t.state.message == nil {
				return nil // the transaction ends
			}
		}
		if changed {
			r.etag, err = table.Client.Write(ctx, w)
		}
		if err == nil {
			if !inserts {
				r.etag = ""
			}
			t.state.add(op.part, ref, r, false)
			return nil
		}
		var e *types.Error
		if errors.As(err, &e) && e.Unsure {
			t.state.add(op.part, ref, &reservation{view: d.View}, true)
		}
		if err = view.Raced(ctx, err); !errors.Is(err, view.ErrRaced) || try >= t.store.Tries {
			return err
		}
		c.Over = nil
		if found, err = txn.ReadRow(ctx, table.Client, d.Key); err != nil {
			return err
		}
	}
}

// resolveOwner decides whether c may have a row that belongs to another primary, or to
// another operation of the same primary. That operation must be decided before its mark
// is removed, because nothing would hold the row for it afterwards.
func (s *Store) resolveOwner(ctx context.Context, d *view.Diff, owned *view.OwnedByOther, c *view.CopyClaim) error {
	if owned.Known && owned.Owner == c.Primary {
		c.Decided = owned.Op
		return s.fenceIfUndecided(ctx, c.Primary.Partition, owned.Op)
	}
	free, err := s.mayOverwrite(ctx, d.View, d.Key, owned)
	if err == nil && !free {
		err = &types.DuplicateError{View: d.View.Name, Key: d.Key}
	}
	c.Over = &owned.Owner
	return err
}

// release removes the reservations and the message of a transaction that was not
// applied and will not be under its present ids. What fails here, a worker completes.
func (t *transaction) release(ctx context.Context) {
	st := t.state
	t.state = nil
	t.hide = t.hide || st != nil && st.fenced
	if st == nil || st.open || ctx.Err() != nil {
		return
	}
	released := true
	for _, pt := range st.parts {
		for ref, r := range pt.reserved {
			if err := t.store.releaseRow(ctx, st, pt, ref, r); err != nil {
				released = false
			}
		}
	}
	if released && st.message != nil && !st.fenced && !st.unclear && !t.late.Any() { // otherwise the message is still needed
		t.store.endMessage(ctx, st.message)
	}
}

// releaseRow removes a reservation. If there is no message, it only tries to delete a row that
// the operation has inserted: a late request of a drain would need a correction.
func (s *Store) releaseRow(ctx context.Context, st *state, pt *operationState, ref types.RowRef, r *reservation) error {
	if t, ok := s.tableOf(r.view); ok && r.etag != "" {
		_, err := t.Client.Write(ctx, txn.Delete(ref.Key(), r.etag))
		if err == nil || errors.Is(err, azerr.ErrNotFound) {
			return nil
		}
	}
	if st.message == nil {
		return nil
	}
	_, err := s.drain(ctx, &drain{primary: pt.primary, op: pt.id, refs: []types.RowRef{ref}, began: st.at})
	return err
}
