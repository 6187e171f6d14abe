package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/attempts"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Intent is what an operation is to do to one primary.
type Intent struct {
	Op  string // "insert", "put", …
	Key keys.Key

	Was   *txn.Record // the current version, if Known
	Known bool        // Was is given, nil for no row; otherwise the primary is read first

	Reread     bool // after a conflict the primary is read again
	Repeatable bool // applying it twice has the same effect as applying it once
	Repair     bool // rows are checked even if they need no change

	// Next returns the new version of the entity, nil to delete it.
	Next     func(was *txn.Record) (any, error)
	Computed bool // Next depends on was, so equal content does not prove that it was applied
}

// operation is an intent that is being carried out.
type operation struct {
	*Intent
	store *Store
	check bool   // read every local row before writing it: one was not as expected
	state *state // of the outbox, from the first attempt that needs it

	late attempts.Unanswered // a write of any attempt may still arrive
}

// retryable is the error of an attempt that may be repeated: it was not applied, or it
// may have been and is [Intent.Repeatable].
type retryable struct{ err error }

func (r *retryable) Error() string { return r.err.Error() }
func (r *retryable) Unwrap() error { return r.err }

// RunAll carries out intents on entities of one partition in one transaction. So far it
// takes a single intent.
func (s *Store) RunAll(ctx context.Context, ins []*Intent) ([]txn.Record, error) {
	if len(ins) != 1 {
		return nil, azerr.ErrMixedPartitions
	}
	r, err := s.Run(ctx, ins[0])
	return []txn.Record{r}, err
}

// Run carries out in, in as many attempts as it takes.
func (s *Store) Run(ctx context.Context, in *Intent) (txn.Record, error) {
	op := &operation{store: s, Intent: in, check: in.Repair}
	ctx = attempts.Track(ctx, &op.late)
	var unknown error // the outcome of an earlier attempt
	for try := 1; ; try++ {
		r, err := op.attempt(ctx)
		if err == nil {
			return r, nil
		}
		var again *retryable
		if errors.As(err, &again) {
			if errors.Is(again.err, azerr.ErrOutcomeUnknown) {
				unknown = again.err
			}
			if in.Computed { // Next may have changed what Was refers to
				in.Was, in.Known = nil, false
			}
			err = fmt.Errorf("%s: %w: %v", in.Op, azerr.ErrConflict, again.err)
			if try < s.Tries && ctx.Err() == nil {
				if perr := parallel.Pause(ctx, try); perr == nil {
					continue
				}
			}
		}
		op.release(ctx)
		if unknown != nil {
			err = fmt.Errorf("%s: %w; the last try: %v", in.Op, unknown, err)
		}
		return txn.Record{}, err
	}
}

// attempt carries the operation out once. A *retryable error allows another attempt.
func (op *operation) attempt(ctx context.Context) (txn.Record, error) {
	p, err := op.plan(ctx)
	if err != nil {
		return txn.Record{}, err
	}
	if p.was == nil && p.now == nil {
		op.release(ctx)
		return txn.Record{Key: op.Key}, nil
	}
	batch := txn.NewBatch(op.store.Table.Client)
	batch.AddChange(p.primary, nil)
	if err := op.addLocal(ctx, batch, p); err != nil {
		return txn.Record{}, err
	}
	if batch.Err() != nil {
		return txn.Record{}, op.tooLarge(batch.Err(), p)
	}
	if op.store.needsOutbox(p.was == nil, p.remote) {
		return op.throughOutbox(ctx, batch, p)
	}
	etags, err := op.commit(ctx, batch.Changes())
	if err != nil {
		return txn.Record{}, err
	}
	op.release(ctx) // an earlier attempt may have needed the outbox
	return p.record(op.Key, etags[0]), nil
}

// commit sends a transaction without an outbox row, the primary's change first, and
// returns its ETags.
func (op *operation) commit(ctx context.Context, changes []txn.Change) ([]string, error) {
	etags, err := op.send(ctx, changes)
	if err == nil {
		return etags, nil
	}
	index, e := failedChange(err)
	if e == nil {
		return nil, err
	}
	if e.Unsure && !primaryPassed(&changes[0], index, e) {
		// The outcome of the primary's change is that of the whole transaction.
		etags, rerr := txn.Resolve(ctx, op.store.Table.Client, changes[:1], e)
		if rerr == nil {
			return etags, nil
		}
		if errors.Is(rerr, azerr.ErrOutcomeUnknown) {
			if op.Repeatable && ctx.Err() == nil {
				return nil, &retryable{rerr}
			}
			return nil, rerr
		}
		errors.As(rerr, &e) // certain now
	}
	return nil, op.classify(index, e)
}

// send is the one request of a transaction.
func (op *operation) send(ctx context.Context, changes []txn.Change) ([]string, error) {
	client := op.store.Table.Client
	if len(changes) == 1 {
		etag, err := client.Write(ctx, changes[0].Write)
		return []string{etag}, err
	}
	return client.Batch(ctx, txn.Writes(changes))
}

// failedChange returns the index of the change that made a transaction fail, -1 if the
// service named none, and why; e is nil if err is not the result of a request.
func failedChange(err error) (index int, e *azerr.Error) {
	var f *wire.BatchFailure
	if errors.As(err, &f) {
		return f.Index, f.Cause
	}
	if !errors.As(err, &e) {
		return -1, nil
	}
	if e.Op == "batch" {
		return -1, e
	}
	return 0, e
}

// primaryPassed reports whether the last attempt of a transaction proves that it was not
// applied, and will not be: it got past the primary's change, whose ETag was still valid, so
// no earlier attempt had been applied, and none can still arrive. An insert proves nothing
// in this way, because the primary may have been inserted and deleted meanwhile.
func primaryPassed(primary *txn.Change, index int, e *azerr.Error) bool {
	conditional := primary.Kind >= wire.Merge && primary.ETag != "*"
	return index > 0 && e.Status != 0 && conditional && !e.Unanswered
}

// classify decides what a certain failure means: a *retryable error, or the end of the
// operation.
func (op *operation) classify(index int, e *azerr.Error) error {
	conflict := errors.Is(e, azerr.ErrExists) || errors.Is(e, azerr.ErrConflict) || errors.Is(e, azerr.ErrNotFound)
	switch {
	case !conflict:
		return e
	case index > 0:
		op.check = true // some row is not what the primary's version implies
		return &retryable{e}
	case !op.Reread:
		return e
	}
	op.Was, op.Known = nil, false
	return &retryable{e}
}
