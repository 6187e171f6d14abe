package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// commit sends a transaction without an outbox row, the changes of the primaries first, and
// returns its ETags.
func (t *transaction) commit(ctx context.Context, changes []txn.Change) ([]string, error) {
	etags, err := t.send(ctx, changes)
	if err == nil {
		return etags, nil
	}
	index, e := failedChange(err)
	if e == nil {
		return nil, err
	}
	if e.Unsure && t.journal != nil {
		if applied, jerr := t.journal.Applied(ctx); jerr == nil && applied {
			return t.present(ctx), nil
		}
	}
	if e.Unsure && t.repairsRows() {
		return nil, &retryable{&sdkerr.UnknownOutcome{Cause: e}} // nothing shows what became of it
	}
	if primaries := changes[:len(t.changed)]; e.Unsure && !primaryPassed(primaries, index, e) {
		// The outcome of the primaries' changes is that of the whole transaction.
		etags, rerr := txn.Resolve(ctx, t.store.Table.Client, primaries, e)
		if rerr == nil {
			return etags, nil
		}
		if errors.Is(rerr, azerr.ErrOutcomeUnknown) {
			if (t.repeatable() || t.lookups.repeats()) && ctx.Err() == nil {
				return nil, &retryable{rerr}
			}
			return nil, rerr
		}
		errors.As(rerr, &e) // certain now
	}
	return nil, t.classify(ctx, index, e)
}

// repeatable reports whether applying the transaction twice has the same effect as applying
// it once.
func (t *transaction) repeatable() bool {
	for _, op := range t.ops {
		if !op.Repeatable {
			return false
		}
	}
	return true
}

// send is the one request of a transaction.
func (t *transaction) send(ctx context.Context, changes []txn.Change) ([]string, error) {
	t.sent++
	return t.lookups.send(ctx, changes, t.request)
}

func (t *transaction) request(ctx context.Context, changes []txn.Change) ([]string, error) {
	client := t.store.Table.Client
	if len(changes) == 1 {
		etag, err := client.Write(ctx, changes[0].Write)
		return []string{etag}, err
	}
	return client.Batch(ctx, txn.Writes(changes))
}

// failedChange returns the index of the change that made a transaction fail, -1 if the
// service named none, and why; e is nil if err is not the result of a request.
func failedChange(err error) (index int, e *types.Error) {
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
// applied, and will not be: it got past the change of a primary whose ETag was still valid,
// so no earlier attempt had been applied, and none can still arrive. An insert proves
// nothing in this way, because the primary may have been inserted and deleted meanwhile.
func primaryPassed(primaries []txn.Change, index int, e *types.Error) bool {
	if e.Status == 0 || e.Unanswered {
		return false
	}
	for i := 0; i < min(index, len(primaries)); i++ {
		if c := &primaries[i]; c.Kind >= wire.Merge && c.ETag != "*" {
			return true
		}
	}
	return false
}

// classify decides what a certain failure means: a *retryable error, or the end of the
// transaction. index is that of the change that failed, -1 if it is not known.
func (t *transaction) classify(ctx context.Context, index int, e *types.Error) error {
	conflict := errors.Is(e, azerr.ErrExists) || errors.Is(e, azerr.ErrConflict) || errors.Is(e, azerr.ErrNotFound)
	if conflict && t.journal != nil && t.journal.Refused(index, errors.Is(e, azerr.ErrNotFound)) {
		return &retryable{e}
	}
	if conflict && index >= len(t.changed) {
		t.check = true // some row is not what the primaries' versions imply
		return &retryable{e}
	}
	var err error = e
	affected := t.changed
	if len(affected) == 1 {
		index = 0
	}
	if index >= 0 && index < len(t.changed) {
		affected = t.changed[index : index+1]
		err = affected[0].failed(e)
	}
	if !conflict {
		return err
	}
	reread := false
	for _, op := range affected {
		if op.Reread {
			op.Was, op.Known, reread = nil, false, true
		}
		if op.Known && op.Was == nil {
			again, failed := t.meet(ctx, op, e)
			if !again && failed != error(e) {
				return op.failed(failed)
			}
			reread = reread || again
		}
	}
	if !reread {
		return err
	}
	return &retryable{err}
}

// meet reads the row at which an insert failed with e. It reports whether the insert is to be
// repeated, because there is no entity; otherwise err is why it failed.
func (t *transaction) meet(ctx context.Context, op *operation, e error) (again bool, err error) {
	if op.met == nil && op.former == nil && !errors.Is(e, azerr.ErrExists) {
		return false, e
	}
	primary, part, err := t.store.read(ctx, op.Key)
	op.met, op.former = part, nil
	switch {
	case errors.Is(err, azerr.ErrNotFound):
		return true, nil
	case primary != nil && t.store.expired(primary.Value):
		op.former = primary
		return true, nil
	case primary != nil && !errors.Is(e, azerr.ErrExists): // the row was changed into an entity
		return false, fmt.Errorf("%s: %w", op.Op, azerr.ErrExists)
	}
	return false, e
}
