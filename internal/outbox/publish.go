package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// needsOutbox reports whether a change has an outbox row.
func (s *Store) needsOutbox(inserts bool, remote []view.Diff) bool {
	return len(remote) > 0 || s.GuardInserts && inserts
}

// needsOutbox reports whether the transaction has outbox rows.
func (t *transaction) needsOutbox() bool { return len(t.needOutbox()) > 0 }

// needOutbox returns the operations that need an outbox row: those with remote rows. If there
// is none, the outbox row of one insert guards the transaction.
func (t *transaction) needOutbox() []*operation {
	var ops []*operation
	for _, op := range t.ops {
		if len(op.remote) > 0 {
			ops = append(ops, op)
		}
	}
	for _, op := range t.changed {
		if len(ops) == 0 && t.store.needsOutbox(op.was == nil, nil) {
			ops = append(ops, op)
		}
	}
	return ops
}

// throughOutbox carries out a transaction that has outbox rows: steps 1 to 4 of the
// protocol.
func (t *transaction) throughOutbox(ctx context.Context, batch *txn.Batch) ([]txn.Record, error) {
	s := t.store
	t.prepareState(ctx)
	st := t.state
	var drains []*drain // of the operations with an outbox row
	for _, pt := range st.parts {
		op := t.of(pt.primary)
		d := &drain{primary: op.Key, op: pt.id, refs: op.refs(), diffs: op.remote, found: op.Found, reserved: pt.reserved, early: map[types.RowRef]view.Found{}}
		for ref := range pt.reserved { // by an earlier attempt
			if !slices.Contains(d.refs, ref) {
				d.refs = append(d.refs, ref)
			}
		}
		drains = append(drains, d)
		row, err := pendingRow(op.Key.Row, d.refs, s.Views.Listing())
		if err != nil {
			return nil, op.failed(err)
		}
		batch.Add(s.records, insertOp(row, recordKey(op.Key.Partition, pt.id)))
	}
	if batch.Err() != nil {
		return nil, t.tooLarge(batch.Err())
	}
	if st.at.IsZero() { // its reservations make the ids known from now on
		st.at = time.Now()
	}
	within, cancel := context.WithDeadline(ctx, st.at.Add(s.limit()))
	defer cancel()
	if err := t.prepare(ctx, within, drains); err != nil {
		return nil, err
	}
	done, err := t.commitWithOutbox(ctx, within, batch.Changes())
	if err != nil {
		return nil, err
	}
	t.state = nil
	return t.records(done.primaries), s.follow.complete(ctx, t, st, drains, &done)
}

// refs are the remote rows that the operation affects, old and new.
func (p *planned) refs() []types.RowRef {
	var refs []types.RowRef
	add := func(r types.RowRef) {
		if !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	for i := range p.remote {
		d := &p.remote[i]
		if d.Old != nil {
			add(d.Ref(d.Old.View))
		}
		add(d.Ref(d.View))
	}
	return refs
}

// committed is what was written by a transaction with outbox rows.
type committed struct {
	primaries []string    // the ETags of the changed primaries, "" for deleted ones
	outbox    []outboxRef // the outbox rows
}

// outboxRef is a version of an outbox row.
type outboxRef struct {
	key  keys.Key
	etag string // "" if a worker has acquired the operation
}

// commitWithOutbox is step 3: it writes the primaries, the local rows and the outbox rows
// in one transaction, which it sends before within ends. The outbox rows, which are the
// last changes, show what became of a transaction whose response was lost: one shows it
// for all.
func (t *transaction) commitWithOutbox(ctx, within context.Context, changes []txn.Change) (committed, error) {
	st := t.state
	if calls.Elapsed(st.at) >= t.store.limit() { // the process may have been suspended
		return committed{}, &retryable{errSlow}
	}
	first := len(changes) - len(st.parts) // of the outbox rows
	sent, err := t.send(within, changes)
	if err == nil {
		c := committed{primaries: sent[:len(t.changed)]}
		for i := first; i < len(changes); i++ {
			c.outbox = append(c.outbox, outboxRef{changes[i].Key(), sent[i]})
		}
		return c, nil
	}
	index, e := failedChange(err)
	if e == nil {
		return committed{}, slow(ctx, within, err)
	}
	fenced := index >= first && errors.Is(e, azerr.ErrExists)
	if e.Unsure {
		st.open = true
		r, derr := t.store.decide(ctx, t.partition(), st.parts[0].id, false)
		if derr == nil && !r.committed() && calls.Elapsed(st.at) >= t.store.Expiry {
			derr = errSlow // a worker may have removed the record of a commit
		}
		if derr != nil {
			return committed{}, &sdkerr.UnknownOutcome{Cause: e, Then: derr}
		}
		st.open = false
		if r.committed() {
			return t.resolved(ctx, &r), nil
		}
		certain := *e
		certain.Unsure = false
		e, st.fenced = &certain, true
	}
	if fenced {
		st.fenced = true
		return committed{}, &retryable{e}
	}
	if err := slow(ctx, within, e); err != error(e) {
		return committed{}, err
	}
	return committed{}, t.classify(ctx, index, e)
}

// resolved returns the ETags of a transaction whose response was lost; r is its first outbox
// row.
func (t *transaction) resolved(ctx context.Context, r *outboxRecord) committed {
	var c committed
	for i, pt := range t.state.parts {
		ref := outboxRef{key: recordKey(t.partition(), pt.id)}
		if i > 0 {
			other, ok, err := t.store.readRecord(ctx, t.partition(), pt.id)
			if r = &other; err != nil || !ok {
				r = &outboxRecord{outboxRow: outboxRow{Worker: "unknown"}}
			}
		}
		if r.Worker == "" {
			ref.etag = r.ETag
		}
		c.outbox = append(c.outbox, ref)
	}
	c.primaries = t.present(ctx)
	return c
}

// present returns the ETags of the primaries that the transaction has changed, as far as they can be found out: a primary may
// have been changed since.
func (t *transaction) present(ctx context.Context) (etags []string) {
	for _, op := range t.changed {
		etag := ""
		if op.now != nil {
			etag = txn.SupersededETag
			if now, err := txn.ReadRow(ctx, t.store.Table.Client, op.Key); err == nil && !now.Absent() {
				if same, err := edm.EqualContent(op.primary.Body, now.Body); err == nil && same {
					etag = now.ETag
				}
			}
		}
		etags = append(etags, etag)
	}
	return etags
}
