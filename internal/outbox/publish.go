package outbox

import (
	"context"
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/servicetime"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
)

// needsOutbox reports whether an operation has an outbox row.
func (s *Store) needsOutbox(inserts bool, remote []view.Diff) bool {
	return len(remote) > 0 || s.GuardInserts && inserts
}

// throughOutbox carries out an operation that has an outbox row: steps 1 to 4 of the
// protocol.
func (op *operation) throughOutbox(ctx context.Context, batch *txn.Batch, p *plan) (txn.Record, error) {
	s := op.store
	op.prepareState(ctx, p)
	id := op.state.id
	refs := p.refs()
	for ref := range op.state.reserved { // by an earlier attempt
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	row, err := pendingRow(op.Key.Row, refs, s.Views.Listing())
	if err != nil {
		return txn.Record{}, err
	}
	batch.Add(s.records, insertOp(row, recordKey(op.Key.Partition, id)))
	if batch.Err() != nil {
		return txn.Record{}, op.tooLarge(batch.Err(), p)
	}
	if err := op.enqueue(ctx); err != nil {
		return txn.Record{}, err
	}
	within, cancel := context.WithDeadline(ctx, op.state.at.Add(s.limit()))
	defer cancel()
	if err := op.reserve(within, p); err != nil {
		return txn.Record{}, slow(ctx, within, err)
	}
	done, err := op.commitWithOutbox(ctx, within, batch.Changes(), p)
	if err != nil {
		return txn.Record{}, err
	}
	reserved, receipt, began := op.state.reserved, op.state.receipt, op.state.at
	op.state = nil
	r := p.record(op.Key, done.primary)
	d := &drain{primary: op.Key, op: id, refs: refs, diffs: p.remote, reserved: reserved, began: began}
	if done.primary != txn.SupersededETag {
		d.known = &version{p.now, done.primary, p.views.Listing()}
	}
	if _, err := s.drain(ctx, d); err != nil {
		if s.OnPending != nil {
			s.OnPending(ctx, op.Key, err)
		}
		return r, nil
	}
	if !op.late.Any() {
		s.finish(ctx, op.Key.Partition, id, done.outbox, receipt)
	}
	return r, nil
}

// refs are the remote rows that the operation affects, old and new.
func (p *plan) refs() []view.RowRef {
	var refs []view.RowRef
	add := func(r view.RowRef) {
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

// etags are those of a transaction with an outbox row.
type etags struct {
	primary string // "" for a deleted primary
	outbox  string // "" if a worker has acquired the operation
}

// commitWithOutbox is step 3: it writes the primary, the local rows and the outbox row
// in one transaction, which it sends before within ends. The outbox row shows what became
// of a transaction whose response was lost.
func (op *operation) commitWithOutbox(ctx, within context.Context, changes []txn.Change, p *plan) (etags, error) {
	if servicetime.Elapsed(op.state.at) >= op.store.limit() { // the process may have been suspended
		return etags{}, &retryable{errSlow}
	}
	sent, err := op.send(within, changes)
	if err == nil {
		return etags{sent[0], sent[len(sent)-1]}, nil
	}
	index, e := failedChange(err)
	if e == nil {
		return etags{}, slow(ctx, within, err)
	}
	fenced := index == len(changes)-1 && errors.Is(e, azerr.ErrExists)
	if e.Unsure {
		st := op.state
		st.open = true
		r, derr := op.store.decide(ctx, op.Key.Partition, st.id)
		if derr == nil && !r.committed() && servicetime.Elapsed(st.at) >= op.store.Expiry {
			derr = errSlow // a worker may have removed the record of a commit
		}
		if derr != nil {
			return etags{}, &azerr.UnknownOutcome{Cause: e, Then: derr}
		}
		st.open = false
		if r.committed() {
			return op.resolvedETags(ctx, &r, p), nil
		}
		certain := *e
		certain.Unsure = false
		e, st.fenced = &certain, true
	}
	if fenced {
		op.state.fenced = true
		return etags{}, &retryable{e}
	}
	if err := slow(ctx, within, e); err != error(e) {
		return etags{}, err
	}
	return etags{}, op.classify(index, e)
}

// resolvedETags returns the ETags of a transaction whose response was lost. That of a
// primary which was changed since can no longer be found out.
func (op *operation) resolvedETags(ctx context.Context, r *record, p *plan) etags {
	var e etags
	if r.Worker == "" {
		e.outbox = r.ETag
	}
	if p.now == nil {
		return e
	}
	e.primary = txn.SupersededETag
	if now, err := txn.ReadRow(ctx, op.store.Table.Client, op.Key); err == nil && !now.Absent() {
		if same, err := edm.EqualContent(p.primary.Body, now.Body); err == nil && same {
			e.primary = now.ETag
		}
	}
	return e
}

// finish is step 5 of a writer: it deletes the outbox row, then the message. If a worker
// has acquired the operation the row stays: the worker may be about to write what it
// read long ago, and then only the row leads to a correction. It also stays if an attempt
// of the writer was not answered and may still arrive: the row prevents that the
// transaction is applied again, and leads to the correction of a remote row.
func (s *Store) finish(ctx context.Context, partition, id, etag string, receipt Receipt) {
	if etag == "" {
		return
	}
	err := s.deleteRecord(ctx, recordKey(partition, id), etag)
	if err == nil || errors.Is(err, azerr.ErrNotFound) {
		_ = s.Queue.Delete(ctx, receipt)
	}
}
