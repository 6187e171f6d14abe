package patterns

import (
	"context"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
)

// throughOutbox carries out an operation that has remote rows: steps 1 to 3 of the
// transactional outbox.
func (op *operation[T]) throughOutbox(ctx context.Context, batch *Batch[T], v *version[T]) (Item[T], error) {
	s := op.store
	op.assign(ctx, v)
	id := op.ticket.id
	places := v.places()
	for p := range op.ticket.held { // of an earlier try
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	row, err := pendingRow(op.key.Row, places)
	if err != nil {
		return Item[T]{}, err
	}
	Join(batch, s.outbox, InsertOp(row).At(outboxKey(op.key.Partition, id)))
	if batch.err != nil {
		return Item[T]{}, op.tooLarge(batch.err, v)
	}
	if err := op.wakeUp(ctx); err != nil {
		return Item[T]{}, err
	}
	if err := op.reserve(ctx, v); err != nil {
		return Item[T]{}, err
	}
	done, err := op.commitWithOutbox(ctx, batch.changes, v)
	if err != nil {
		return Item[T]{}, err
	}
	held := op.ticket.held
	receipt := op.ticket.receipt
	op.ticket = nil
	item := v.item(op.key, done.primary)
	d := &drain[T]{primary: op.key, op: id, places: places, first: v.remote, held: held}
	if done.primary != supersededETag {
		d.known = &seen[T]{v.now, done.primary}
	}
	if err := s.drain(ctx, d); err != nil {
		if s.opts.OnPending != nil {
			s.opts.OnPending(ctx, op.key, err)
		}
		return item, nil
	}
	s.finish(ctx, op.key.Partition, id, done.outbox, receipt)
	return item, nil
}

// places are the remote rows that the operation touches, old and new.
func (v *version[T]) places() []Place {
	var all []Place
	add := func(p Place) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for i := range v.remote {
		d := &v.remote[i]
		if d.old != nil {
			add(d.place(d.old.lens))
		}
		add(d.place(d.lens))
	}
	return all
}

// etags are those of a transaction with an outbox row.
type etags struct {
	primary string // "" for a deleted one
	outbox  string // "" if a worker has the row
}

// commitWithOutbox is step 2: primary, local rows and outbox row in one
// transaction. The outbox row answers what a lost reply leaves open.
func (op *operation[T]) commitWithOutbox(ctx context.Context, changes []change, v *version[T]) (etags, error) {
	sent, err := op.send(ctx, changes)
	if err == nil {
		return etags{sent[0], sent[len(sent)-1]}, nil
	}
	at, e := refusal(err)
	if e == nil {
		return etags{}, err
	}
	fenced := at == len(changes)-1 && errors.Is(e, ErrExists)
	if e.Unsure {
		t := op.ticket
		t.open = true
		row, serr := op.store.settleOutbox(ctx, op.key.Partition, t.id)
		if serr != nil {
			return etags{}, &outcomeUnknown{cause: e, then: serr}
		}
		t.open = false
		if committed(row) {
			return op.found(ctx, row, v)
		}
		certain := *e
		certain.Unsure = false
		e, t.fenced = &certain, true
	}
	if fenced {
		op.ticket.fenced = true
		return etags{}, &lostRace{e}
	}
	return etags{}, op.judge(at, e)
}

// found gives the ETags of a transaction whose reply was lost. That of a primary
// which was changed since is not to be had any more.
func (op *operation[T]) found(ctx context.Context, row Item[outboxRow], v *version[T]) (etags, error) {
	var e etags
	if row.Value.Worker == "" {
		e.outbox = string(row.ETag)
	}
	if v.now == nil {
		return e, nil
	}
	e.primary = supersededETag
	if now, err := readRow(ctx, op.store.table.wire, op.key); err == nil && !now.absent() {
		if same, err := edm.EqualContent(v.primary.Body, now.body); err == nil && same {
			e.primary = now.etag
		}
	}
	return e, nil
}

// finish ends step 3 for a writer: it removes the outbox row, then the wake-up. The
// row is left alone if a worker has taken it over: the worker may be about to write
// what it read long ago, and then only the row brings that to light.
func (s *Store[T]) finish(ctx context.Context, partition, id, etag string, receipt Receipt) {
	if etag == "" {
		return
	}
	err := s.outbox.Delete(ctx, outboxKey(partition, id), azcore.ETag(etag))
	if err == nil || errors.Is(err, ErrNotFound) {
		_ = s.opts.Outbox.Delete(ctx, receipt)
	}
}
