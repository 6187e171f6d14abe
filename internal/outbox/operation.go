package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// transaction is a set of operations on entities of one partition that is being carried
// out: all of them are applied or none.
type transaction struct {
	store *Store
	ops   []*operation
	check bool   // read every local row before writing it: one was not as expected
	state *state // of the outbox, from the first attempt that needs it
	hide  bool   // the message is hidden for the grace time even if Config.Later is set: a worker has fenced an attempt

	changed []*operation    // those that change their entity in this attempt
	local   []view.LocalRow // the rows derived from them that change in this attempt

	open    []*drain // of what a Finisher holds, from before this attempt's transaction
	lookups lookupWriter
	journal recorder // nil: the Store has no journal

	sent int              // how often the transaction was sent
	late calls.Unanswered // a write of any attempt may still arrive
}

// recorder adds the rows of a journal to a transaction: [journal.Transaction]. Transactions of a Store without a journal do not
// reach its code.
type recorder interface {
	Attempt(ctx context.Context, n int, of func(i int) (*journal.Recording, keys.Key, *txn.Record)) (applied bool, err error)
	Before(r *journal.Recording, v *view.View, was *txn.Record) error
	Record(r *journal.Recording, entity keys.Key, stored, was *txn.Record, now any, expired bool) error
	Rows() int
	Add(ctx context.Context, batch *txn.Batch) error
	Refused(index int, missing bool) bool
	Committed()
	Applied(ctx context.Context) (bool, error)
	Mark(r *journal.Recording, unknown *edm.Unknown) edm.Unknown
	After(r *journal.Recording, body []byte) error
	Steps(v *view.View, n int, of func(i int) (entity keys.Key, was, now any)) []types.StepRow
}

// Intent is what an operation is to do to one primary.
type Intent struct {
	Op  string // "insert", "put", …
	Key keys.Key

	Was   *txn.Record // the current version, if Known
	Known bool        // Was is given, nil for no row; otherwise the primary is read first

	Reread     bool // after a conflict the primary is read again
	Repeatable bool // applying it twice has the same effect as applying it once
	Repair     bool // rows are checked even if they need no change

	// Rows, if not nil, are the only rows to repair. The entity, if there is one, stays as it
	// is, except its ETag, so Next is not used. All intents of a transaction have Rows, or none.
	Rows []types.RowRef

	// Found is what was read of some rows before Was, or while Was was the current version. That
	// of all Rows is needed if Was is Known, and used by the first attempt only.
	Found map[types.RowRef]view.Found

	Corrects int // how many rows are known to be wrong

	// Fill means that Next returns the entity unchanged, to get rows of views that it does
	// not list. These are inserted without reading them first; if one exists, the next
	// attempt reads them.
	Fill bool

	// IfExists means that the intent is carried out if there is no entity and Next returns none.
	// Nothing then makes a transaction depend on the entity, so it must be the only intent of its
	// transaction, or one of several that need not be isolated from others.
	IfExists bool

	// Next returns the new version of the entity, nil to delete it.
	Next     func(was *txn.Record) (any, error)
	Computed bool // Next depends on was, and may change it

	// Spent, if not nil, is set by the attempt that takes Was, because Next may change what its value
	// refers to. Every other attempt reads the primary, also those of other intents with this Spent.
	Spent *atomic.Bool
}

// Deletion returns the intent to delete an entity if it is the version that was read.
func Deletion(was *txn.Record) *Intent {
	return &Intent{Op: "delete", Key: was.Key, Was: was, Known: true, Next: func(*txn.Record) (any, error) { return nil, nil }}
}

// operation is an intent of a transaction.
type operation struct {
	*Intent
	index   int  // in the transaction
	alone   bool // it is the only one
	planned      // of the present attempt
	part    *operationState
	apart   []string    // views that the entity is not listed in, because another entity has its row
	since   string      // the ETag of the version of which that is true
	met     *txn.Record // the row without an entity that an insert has met
	former  *txn.Record // the entity that an insert has met, which has expired
	lookups lookupRows
	journal journal.Recording
}

// opError is the error of one of several operations. Its message is that of err.
type opError struct {
	op  *operation
	err error
}

func (e *opError) Error() string { return e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

// failed returns err as the error of the operation.
func (op *operation) failed(err error) error {
	if err == nil || op.alone {
		return err
	}
	return &opError{op, err}
}

// retryable is the error of an attempt that may be repeated: it was not applied, or it
// may have been and is [Intent.Repeatable].
type retryable struct{ err error }

func (r *retryable) Error() string { return r.err.Error() }
func (r *retryable) Unwrap() error { return r.err }

// Run carries out in, in as many attempts as it takes.
func (s *Store) Run(ctx context.Context, in *Intent) (txn.Record, error) {
	records, err := s.RunAll(ctx, []*Intent{in})
	if err != nil {
		return txn.Record{}, err
	}
	return records[0], nil
}

// RunAll carries out intents on entities of one partition in one transaction, in as many
// attempts as it takes, and returns the primaries in the order of the intents. Either all
// of them are applied or none. The keys must differ.
//
// The error of several intents is a [*types.BatchError]. Its Index is that of the intent that
// failed, -1 if no single one did.
func (s *Store) RunAll(ctx context.Context, ins []*Intent) ([]txn.Record, error) {
	if len(ins) == 0 {
		return nil, ctx.Err()
	}
	return s.newTransaction(ins).run(ctx)
}

func (s *Store) newTransaction(ins []*Intent) *transaction {
	t := &transaction{store: s}
	t.lookups = s.lookups(t)
	for i, in := range ins {
		t.ops = append(t.ops, &operation{Intent: in, index: i, alone: len(ins) == 1})
		t.check = t.check || in.Repair
	}
	if !t.repairsRows() {
		t.journal = s.record(ins[0].Key.Partition)
	}
	return t
}

func (t *transaction) run(ctx context.Context) (records []txn.Record, err error) {
	if err := t.checkKeys(); err != nil {
		return nil, t.batchError(err, err)
	}
	defer func() { t.lookups.end(ctx, err == nil) }()
	ctx = calls.Track(ctx, &t.late)
	var unknown error // the outcome of an earlier attempt
	for try := 1; ; try++ {
		if records, err = t.attempt(ctx); err == nil {
			return records, nil
		}
		err = t.confirmDuplicate(ctx, err)
		if t.leaveApart(err) {
			try--
			continue
		}
		cause := err
		var again *retryable
		if errors.As(err, &again) {
			if errors.Is(again.err, azerr.ErrOutcomeUnknown) {
				unknown = again.err
			}
			for _, op := range t.ops {
				if op.Computed || op.Rows != nil { // an update starts over from the present version, and Found is old
					op.Was, op.Known = nil, false
				}
			}
			err = fmt.Errorf("%s: %w: %v", t.name(), azerr.ErrConflict, again.err)
			if try < t.store.Tries && ctx.Err() == nil && calls.Pause(ctx, try) == nil {
				continue
			}
		}
		t.release(ctx)
		if unknown != nil {
			err = fmt.Errorf("%s: %w; the last try: %v", t.name(), unknown, err)
			cause = unknown
		}
		return nil, t.batchError(err, cause)
	}
}

// name is the name of the transaction in errors.
func (t *transaction) name() string {
	if len(t.ops) == 1 {
		return t.ops[0].Op
	}
	return "batch"
}

// checkKeys fails if the operations are not on different entities of one partition, or are too
// many for a transaction in any case.
func (t *transaction) checkKeys() error {
	seen := make(map[string]bool, len(t.ops))
	for _, op := range t.ops {
		switch {
		case op.index >= wire.MaxBatchOps:
			return op.failed(fmt.Errorf("%w: more than %d operations in one transaction", azerr.ErrTooLarge, wire.MaxBatchOps))
		case op.Key.Partition != t.ops[0].Key.Partition, t.store.Table.Writable.Check(op.Key.Partition) != nil:
			return op.failed(azerr.ErrMixedPartitions)
		case seen[op.Key.Row]:
			return op.failed(azerr.ErrDuplicateRow)
		}
		seen[op.Key.Row] = true
	}
	return nil
}

// batchError returns err as the error of the transaction. cause contains the operation
// that failed, if it is known.
func (t *transaction) batchError(err, cause error) error {
	if len(t.ops) == 1 {
		return err
	}
	b := &types.BatchError{Index: -1, Op: "batch", Err: err}
	var failed *opError
	if errors.As(cause, &failed) {
		b.Index, b.Op, b.Key = failed.op.index, failed.op.Op, failed.op.Key
	}
	var e *types.Error
	if errors.As(cause, &e) {
		b.Code, b.Status = e.Code, e.Status
	}
	return b
}

// partition is the partition key of all operations.
func (t *transaction) partition() string { return t.ops[0].Key.Partition }

// of returns the operation on the primary at key, nil if there is none.
func (t *transaction) of(primary keys.Key) *operation {
	for _, op := range t.ops {
		if op.Key == primary {
			return op
		}
	}
	return nil
}

// attempt carries the transaction out once. A *retryable error allows another attempt.
func (t *transaction) attempt(ctx context.Context) ([]txn.Record, error) {
	switch err := t.plan(ctx); {
	case errors.Is(err, errRecorded):
		return t.records(t.present(ctx)), nil
	case err != nil:
		return nil, err
	}
	if t.changesNothing() {
		t.release(ctx)
		return t.records(nil), nil
	}
	if err := t.checkShared(ctx); err != nil {
		return nil, err
	}
	batch := txn.NewBatch(t.store.Table.Client)
	batch.Grow(len(t.changed) + len(t.local))
	for _, op := range t.changed {
		batch.AddChange(op.primary, nil)
	}
	if err := t.addLocal(ctx, batch); err != nil {
		return nil, err
	}
	if t.journal != nil {
		if err := t.journal.Add(ctx, batch); err != nil {
			return nil, fmt.Errorf("%s: journal: %w", t.name(), err)
		}
	}
	if batch.Err() != nil {
		return nil, t.tooLarge(batch.Err())
	}
	if t.needsOutbox() {
		return t.throughOutbox(ctx, batch)
	}
	if t.repairsRows() && len(batch.Changes()) == len(t.changed) {
		t.release(ctx)
		return t.records(make([]string, len(t.changed))), nil // all rows are correct
	}
	etags, err := t.commit(ctx, batch.Changes())
	if err != nil {
		return nil, err
	}
	t.release(ctx) // an earlier attempt may have needed the outbox
	return t.records(etags), nil
}

// changesNothing reports whether there is nothing to send.
func (t *transaction) changesNothing() bool {
	return len(t.changed)+len(t.local) == 0 && !t.needsOutbox()
}

// repairsRows reports whether the transaction repairs named rows only.
func (t *transaction) repairsRows() bool { return t.ops[0].Rows != nil }

// records returns the primaries after the transaction. etags are those of the changed ones.
func (t *transaction) records(etags []string) []txn.Record {
	if t.journal != nil {
		t.journal.Committed()
	}
	all := make([]txn.Record, len(t.ops))
	for i, op := range t.ops {
		all[i].Key = op.Key
	}
	for i, op := range t.changed {
		all[op.index] = op.record(op.Key, etags[i])
	}
	return all
}
