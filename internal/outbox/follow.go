package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// following is what a writer does for the remote rows: steps 4 and 5 of the protocol.
type following interface {
	// before returns functions that read, before the transaction, the rows that drains are going to write. They do
	// nothing if failed is set.
	before(ctx context.Context, t *transaction, drains []*drain, failed *atomic.Bool) []func() error

	// complete drains the operations of a transaction, after it was applied, and finishes it. The error is why named
	// rows were not repaired.
	complete(ctx context.Context, t *transaction, st *state, drains []*drain, done *committed) error
}

// byWorker leaves everything to a worker.
type byWorker struct{}

func (byWorker) before(context.Context, *transaction, []*drain, *atomic.Bool) []func() error {
	return nil
}
func (byWorker) complete(context.Context, *transaction, *state, []*drain, *committed) error {
	return nil
}

// inCall does everything in the call.
type inCall struct{}

// before reads nothing for a repair, whose rows are mostly right, and must then be read after the transaction. It does not
// read rows either that are inserted without that, or changed before the transaction or by another operation of it.
func (inCall) before(ctx context.Context, t *transaction, drains []*drain, failed *atomic.Bool) (steps []func() error) {
	first := map[keys.Key]*drain{}
	for _, d := range drains {
		targets, err := t.store.targets(d)
		if err != nil || t.of(d.primary).Repair {
			continue // the drain returns the error
		}
		for i := range targets {
			row := &targets[i]
			if other := first[row.claim.Key]; other != nil && other != d || !row.read || changedBefore(d.diffs, row.claim.Key) {
				continue
			}
			first[row.claim.Key] = d
			steps = append(steps, func() error {
				if !failed.Load() {
					d.readEarly(ctx, t.state, row)
				}
				return nil
			})
		}
	}
	return steps
}

// readEarly reads a row before the transaction. If that fails, the row is read after it.
func (d *drain) readEarly(ctx context.Context, st *state, row *drainRow) {
	found, err := row.table.Read(ctx, &row.claim)
	if err == nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		d.early[row.ref()] = found
	}
}

// changedBefore reports whether the row at key is reserved or adopted before the transaction.
func changedBefore(diffs []view.Diff, key keys.Key) bool {
	return slices.ContainsFunc(diffs, func(d view.Diff) bool { return d.Key == key && (d.Unique() || d.Adopts()) })
}

func (inCall) complete(ctx context.Context, t *transaction, st *state, drains []*drain, done *committed) error {
	complete, repairs := t.drain(ctx, st, drains, done)
	if complete && done.deletable() {
		t.store.finish(ctx, done.outbox, st.message)
	}
	return repairs
}

// drain carries out the drains of a transaction that was applied. complete means that none failed, and that no attempt of the
// writer can still arrive. Otherwise the outbox rows stay: they prevent that the transaction is applied again, and lead to the
// correction of a remote row.
func (t *transaction) drain(ctx context.Context, st *state, drains []*drain, done *committed) (complete bool, repairs error) {
	etagOf := map[keys.Key]string{}
	for i, op := range t.changed {
		etagOf[op.Key] = done.primaries[i]
	}
	for _, d := range drains {
		d.began = st.at
		if etag, changed := etagOf[d.primary]; changed && etag != txn.SupersededETag {
			op := t.of(d.primary)
			d.known = &primaryVersion{op.now, etag, view.ListingOf(op.origin), unknownOf(op.origin)}
			if op.Rows == nil {
				d.known.listing = op.views.Listing()
			}
		}
	}
	complete = true
	for i, err := range t.store.drainAll(ctx, drains) {
		if err == nil {
			continue
		}
		complete = false
		if op := t.of(drains[i].primary); op.Rows != nil {
			repairs = cmp.Or(repairs, op.failed(fmt.Errorf("%s: %w", op.Op, err)))
			continue
		}
		t.store.reportPending(ctx, drains[i].primary, err)
	}
	return complete && !t.late.Any(), repairs
}

// reportPending reports that a worker has to write the remote rows of an operation.
func (s *Store) reportPending(ctx context.Context, primary keys.Key, err error) {
	if s.OnPending != nil {
		s.OnPending(ctx, primary, err)
	}
}

// deletable reports whether all outbox rows may be deleted. If a worker has acquired an operation they stay: the worker may be
// about to write what it read long ago, and then only the row leads to a correction.
func (c *committed) deletable() bool {
	return !slices.ContainsFunc(c.outbox, func(r outboxRef) bool { return r.etag == "" })
}

// finish is step 5 of a writer: it deletes the outbox rows, in one transaction, which fails if a worker has acquired an
// operation meanwhile, and then the message.
func (s *Store) finish(ctx context.Context, rows []outboxRef, message *sentMessage) {
	err := s.deleteRecords(ctx, rows)
	if err == nil || len(rows) == 1 && errors.Is(err, azerr.ErrNotFound) {
		s.endMessage(ctx, message)
	}
}

// sentMessage is a message in the queue.
type sentMessage struct {
	receipt types.Receipt
	open    atomic.Int32 // transactions that it names and that may need it
}

// putMessage puts a message of one transaction.
func putMessage(ctx context.Context, s *Store, m types.OutboxMessage, hidden time.Duration) (*sentMessage, error) {
	receipt, err := s.Queue.Put(ctx, m, hidden)
	if err != nil {
		return nil, err
	}
	sent := &sentMessage{receipt: receipt}
	sent.open.Store(1)
	return sent, nil
}

// endMessage deletes a message that no other transaction needs.
func (s *Store) endMessage(ctx context.Context, m *sentMessage) {
	if m.open.Add(-1) == 0 {
		_ = s.Queue.Delete(ctx, m.receipt)
	}
}
