package patterns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// operation is one intent under way.
type operation[T any] struct {
	*intent[T]
	store  *Store[T]
	full   bool    // read every local row before writing: one was not as expected
	ticket *ticket // the wake-up and what is reserved, while there are any
}

// version is what an operation found and what it makes of it.
type version[T any] struct {
	was     *Item[T]
	now     *T
	local   []localRow
	remote  []difference
	primary change
	origin  *origin // of the item that results
}

// try carries the operation out once. A *lostRace allows another try.
func (op *operation[T]) try(ctx context.Context) (Item[T], error) {
	v, err := op.look(ctx)
	if err != nil {
		return Item[T]{}, err
	}
	if v.was == nil && v.now == nil {
		op.giveUp(ctx)
		return Item[T]{Key: op.key}, nil
	}
	batch := op.store.table.Batch()
	batch.add(v.primary, nil)
	if err := op.addLocal(ctx, batch, v); err != nil {
		return Item[T]{}, err
	}
	if batch.err != nil {
		return Item[T]{}, op.tooLarge(batch.err, v)
	}
	if len(v.remote) > 0 {
		return op.throughOutbox(ctx, batch, v)
	}
	etags, err := op.commit(ctx, batch.changes)
	if err != nil {
		return Item[T]{}, err
	}
	op.giveUp(ctx) // an earlier try may have needed the outbox
	return v.item(op.key, etags[0]), nil
}

// look reads what stands there, if it has to, and derives what both versions imply.
func (op *operation[T]) look(ctx context.Context) (*version[T], error) {
	s := op.store
	v := &version[T]{was: op.was}
	if strings.HasPrefix(op.key.Row, reservedRow) {
		return nil, fmt.Errorf("%s: %w: a row key begins with %q", op.what, ErrBadKey, reservedRow)
	}
	if !op.known {
		var err error
		if v.was, err = s.find(ctx, op.key); err != nil {
			return nil, err
		}
	}
	var o *origin
	var was *T
	if v.was != nil {
		was, o = &v.was.Value, v.was.origin
	}
	old, err := s.views.derive(was, op.key) // before next, which may reach into what was holds
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.what, err)
	}
	if v.now, err = op.next(v.was); err != nil {
		return nil, err
	}
	if err := op.encode(v, o); err != nil {
		return nil, fmt.Errorf("%s: %w", op.what, err)
	}
	new, err := s.views.derive(v.now, op.key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.what, err)
	}
	local, remote := differ(op.key, old, new, viewsOf(o), op.mend)
	v.local, v.remote = localRows(local), remote
	if len(remote) > 0 && s.opts.Outbox == nil {
		return nil, fmt.Errorf("%s: %w", op.what, badView(remote[0].lens.name, "it leaves the primary's partition: StoreOptions.Outbox is needed"))
	}
	return v, nil
}

// encode makes the change of the primary's row.
func (op *operation[T]) encode(v *version[T], o *origin) error {
	t := op.store.table
	c := change{what: op.what, rmw: op.computed}
	c.PartitionKey, c.RowKey = op.key.Partition, op.key.Row
	c.Kind = wire.Insert
	if v.was != nil {
		c.Kind, c.ETag = wire.Replace, string(v.was.ETag)
	}
	if v.now == nil {
		c.Kind, v.primary = wire.Delete, c
		v.primary.Kind = wire.Delete
		return nil
	}
	key, err := t.Key(v.now)
	if err != nil {
		return err
	}
	if key != op.key {
		return ErrKeyChanged
	}
	v.origin = &origin{}
	if o != nil {
		*v.origin = *o
	}
	if op.store.names != "" {
		v.origin.rest = v.origin.rest.WithText(propViews, op.store.names)
	}
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Unknown: &v.origin.rest}
	if t.stamped {
		c.id, c.base = newStamp(), v.origin.stamp
		e.Stamp = addStamp(c.id, c.base)
		v.origin.stamp = e.Stamp
	}
	c.Body, err = t.codec.Append(nil, v.now, e)
	v.primary = c
	return err
}

// item is the primary after the operation.
func (v *version[T]) item(key keys.Key, etag string) Item[T] {
	item := Item[T]{Key: key, ETag: azcore.ETag(etag), origin: v.origin}
	if v.now != nil {
		item.Value = *v.now
	}
	return item
}

// addLocal adds the changes of the local rows to the transaction.
func (op *operation[T]) addLocal(ctx context.Context, batch *Batch[T], v *version[T]) error {
	s := op.store
	found := make([]*standing, len(v.local))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.opts.Parallel)
	for i := range v.local {
		if p := &v.local[i]; op.full || !p.blind() {
			g.Go(func() error {
				row, err := readRow(gctx, s.table.wire, p.key)
				found[i] = &row
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("%s: %w", op.what, err)
	}
	for i := range v.local {
		w, act, err := op.localWrite(ctx, &v.local[i], found[i])
		if err != nil {
			return fmt.Errorf("%s: %w", op.what, err)
		}
		if act {
			batch.add(change{Write: w, what: w.Kind.String(), rmw: true}, nil)
		}
	}
	return nil
}

func (op *operation[T]) localWrite(ctx context.Context, p *localRow, found *standing) (wire.Write, bool, error) {
	if found == nil {
		return p.blindWrite(), true, nil
	}
	w, act, err := p.write(op.key, *found, nil)
	var taken *takenError
	if !errors.As(err, &taken) {
		return w, act, err
	}
	view := taken.view
	l, err := op.store.lens(view)
	if err != nil {
		return w, false, err
	}
	free, err := op.store.free(ctx, l, p.key, taken)
	if err != nil {
		return w, false, err
	}
	if free {
		if w, act, err = p.write(op.key, *found, &taken.owner); !errors.As(err, &taken) {
			return w, act, err
		}
	}
	return w, false, &DuplicateError{view, p.key}
}

// free reports whether a row that another primary has is free to be taken: that
// primary no longer implies it, and no operation of it is about to.
func (s *Store[T]) free(ctx context.Context, l *lens, key keys.Key, taken *takenError) (bool, error) {
	if !taken.known {
		return false, nil
	}
	if taken.op != "" {
		_, begun, err := s.peekOutbox(ctx, taken.owner.Partition, taken.op)
		if err != nil {
			return false, err
		}
		if !begun && age(taken.at) < s.opts.Grace {
			return false, nil // the operation may be under way
		}
		if !begun {
			if err := s.bar(ctx, taken.owner.Partition, taken.op); err != nil {
				return false, err
			}
		}
	}
	owner, err := s.find(ctx, taken.owner)
	if err != nil || owner == nil {
		return err == nil, err
	}
	rows, err := s.views.derive(&owner.Value, owner.Key)
	if err != nil {
		return false, err
	}
	for i := range rows {
		if rows[i].key() == key && rows[i].lens.targetID() == l.targetID() {
			return false, nil
		}
	}
	return true, nil
}

// pass makes sure that an operation was carried out, or never will be.
func (s *Store[T]) pass(ctx context.Context, partition, id string) error {
	_, begun, err := s.peekOutbox(ctx, partition, id)
	if err != nil || begun {
		return err
	}
	return s.bar(ctx, partition, id)
}

// bar makes sure that an operation which has not been carried out never will be.
// Wake-up first, as its own may be gone: it takes the fence away later.
func (s *Store[T]) bar(ctx context.Context, partition, id string) error {
	if s.opts.Outbox == nil {
		return fmt.Errorf("a row is held by an operation: StoreOptions.Outbox: %w", ErrNil)
	}
	if _, err := s.opts.Outbox.Put(ctx, Wakeup{Partition: partition, ID: id}, s.opts.Grace); err != nil {
		return fmt.Errorf("wake-up: %w", err)
	}
	_, err := s.settleOutbox(ctx, partition, id)
	return err
}
