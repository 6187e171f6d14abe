package patterns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// ticket is an operation's entry on the queue, and the rows it holds.
type ticket struct {
	id       string
	receipt  Receipt
	put      bool              // the wake-up is on the queue
	at       time.Time         // since when
	reserved []Place           // named in the wake-up
	held     map[Place]holding // reserved so far
	fenced   bool              // the operation cannot be carried out under this id any more
	open     bool              // it may have been carried out
	unclear  bool              // a reservation may be made yet that held does not show
}

// holding is a row that an operation has reserved.
type holding struct {
	lens *lens
	etag string // "" unless the operation has inserted the row
}

// assign gives the operation a ticket. That of an earlier try serves again, if its
// wake-up names all that is to be reserved now, and is not about to be shown.
func (op *operation[T]) assign(ctx context.Context, v *version[T]) {
	var reserve []Place
	for i := range v.remote {
		if d := &v.remote[i]; d.unique() {
			reserve = append(reserve, d.place(d.lens))
		}
	}
	if t := op.ticket; t != nil {
		unnamed := func(p Place) bool { return !slices.Contains(t.reserved, p) }
		if !t.fenced && !t.unclear && (!t.put || time.Since(t.at) < op.store.opts.Grace/2) &&
			!slices.ContainsFunc(reserve, unnamed) {
			return
		}
		op.giveUp(ctx)
	}
	op.ticket = &ticket{id: newID(), reserved: reserve, held: map[Place]holding{}}
}

// wakeUp is step 1: a wake-up on the queue, invisible for the grace time.
func (op *operation[T]) wakeUp(ctx context.Context) error {
	t := op.ticket
	if t.put {
		return nil
	}
	w := Wakeup{Partition: op.key.Partition, ID: t.id, Reserved: t.reserved}
	if len(t.reserved) > 0 {
		w.Row = op.key.Row
	}
	receipt, err := op.store.opts.Outbox.Put(ctx, w, op.store.opts.Grace)
	if err != nil {
		return fmt.Errorf("%s: wake-up: %w", op.what, err)
	}
	t.receipt, t.put, t.at = receipt, true, time.Now()
	return nil
}

// place is d's row, as a row of view l.
func (d *difference) place(l *lens) Place {
	return Place{View: l.name, Partition: d.key.Partition, Row: d.key.Row}
}

// reserve is step 1b: every unique row that the transaction is going to imply is
// inserted, or marked, so that no other primary can have it.
func (op *operation[T]) reserve(ctx context.Context, v *version[T]) error {
	for i := range v.remote {
		d := &v.remote[i]
		if !d.unique() {
			continue
		}
		t, ok := op.store.tableOf(d.lens)
		if !ok {
			return fmt.Errorf("%s: %w", op.what, badView(d.lens.name, "its target takes no unique rows"))
		}
		if err := op.hold(ctx, t, d); err != nil {
			return fmt.Errorf("%s: %w", op.what, err)
		}
	}
	return nil
}

// hold reserves one row. One request where the row is free, two more for each lost
// race.
func (op *operation[T]) hold(ctx context.Context, t *tableTarget, d *difference) error {
	c := copyClaim{key: d.key, primary: op.key, view: d.lens.name, op: op.ticket.id}
	var found standing // at first, take it for absent
	for try := 1; ; try++ {
		w, act, err := c.reservation(found)
		var taken *takenError
		if errors.As(err, &taken) {
			if err := op.dispute(ctx, d, taken, &c); err != nil {
				return err
			}
			w, act, err = c.reservation(found)
		}
		if err != nil {
			return err
		}
		h := holding{lens: d.lens}
		if act {
			h.etag, err = t.wire.Write(ctx, w)
		}
		if err == nil {
			if w.Kind != wire.Insert {
				h.etag = ""
			}
			op.ticket.held[d.place(d.lens)] = h
			return nil
		}
		var e *azerr.Error
		if errors.As(err, &e) && e.Unsure {
			op.ticket.unclear = true
			op.ticket.held[d.place(d.lens)] = holding{lens: d.lens}
		}
		if err = raced(ctx, err); !errors.Is(err, errRaced) || try >= op.store.opts.Tries {
			return err
		}
		c.over = nil
		if found, err = readRow(ctx, t.wire, d.key); err != nil {
			return err
		}
	}
}

// dispute settles whether c may have a row that another primary has, or another
// operation of the same. The latter must not be carried out any more once its
// mark is gone, because nothing would keep the row for it.
func (op *operation[T]) dispute(ctx context.Context, d *difference, taken *takenError, c *copyClaim) error {
	if taken.known && taken.owner == op.key {
		c.past = taken.op
		return op.store.pass(ctx, op.key.Partition, taken.op)
	}
	free, err := op.store.free(ctx, d.lens, d.key, taken)
	if err == nil && !free {
		err = &DuplicateError{d.lens.name, d.key}
	}
	c.over = &taken.owner
	return err
}

// tableOf is the table in which a view's remote rows stand; ok is false if they
// stand elsewhere.
func (s *Store[T]) tableOf(l *lens) (t *tableTarget, ok bool) {
	if l.target == nil {
		return s.own, true
	}
	t, ok = l.target.(*tableTarget)
	return t, ok
}

// giveUp releases what an operation holds that was not carried out and will not be
// under its present id. What fails here, a worker does.
func (op *operation[T]) giveUp(ctx context.Context) {
	t := op.ticket
	op.ticket = nil
	if t == nil || !t.put || t.open || ctx.Err() != nil {
		return
	}
	done := true
	for p, h := range t.held {
		if err := op.release(ctx, t.id, p, h); err != nil {
			done = false
		}
	}
	if done && !t.fenced && !t.unclear { // else the wake-up is still needed
		_ = op.store.opts.Outbox.Delete(ctx, t.receipt)
	}
}

func (op *operation[T]) release(ctx context.Context, id string, p Place, h holding) error {
	s := op.store
	if t, ok := s.tableOf(h.lens); ok && h.etag != "" {
		_, err := t.wire.Write(ctx, away(p.Key(), h.etag))
		if err == nil || errors.Is(err, ErrNotFound) {
			return nil
		}
	}
	return s.drain(ctx, &drain[T]{primary: op.key, op: id, places: []Place{p}})
}
