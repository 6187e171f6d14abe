package widerow

import (
	"context"
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// fits reports whether the changes are within the limits of one transaction.
func (t *Table) fits(changes []txn.Change) bool {
	n := 0
	for i := range changes {
		n += wire.BatchBytes(&changes[i].Write)
	}
	return len(changes) <= wire.MaxBatchOps && n <= t.BatchBytes
}

// commit carries out a transaction and returns the ETags of its rows, "" for a delete. The
// first required changes must be applied. If the response leaves the outcome open, the
// first row proves it and is the only one whose ETag is returned: one more request. A
// deletion of rows without a head has to read them all.
func (t *Table) commit(ctx context.Context, changes []txn.Change, required int) (etags []string, err error) {
	etags, err = t.send(ctx, changes, required)
	var e *types.Error
	if errors.As(err, &e) && e.Unsure {
		var f *wire.BatchFailure
		named := errors.As(err, &f)
		proof := changes[:1]
		if changes[0].Kind == wire.Delete && changes[0].Stamps == nil {
			proof = changes
		}
		etags, err = txn.Resolve(ctx, t.Client, proof, e)
		if named && errors.As(err, &e) && !e.Unsure {
			err = &wire.BatchFailure{Cause: e, Index: f.Index} // refused because of that row
		}
	}
	return etags, err
}

// send carries out a transaction. If a delete after the required changes fails because its
// row does not exist, or is not the version to be deleted, send repeats the transaction
// without it, so that a row that another program deleted does not prevent writing the
// entity anew.
func (t *Table) send(ctx context.Context, changes []txn.Change, required int) ([]string, error) {
	for len(changes) > 0 {
		etags, err := t.Client.Batch(ctx, txn.Writes(changes))
		var f *wire.BatchFailure
		// If nothing is required, it does not matter whether an earlier attempt deleted the row.
		if err == nil || !errors.As(err, &f) || f.Cause.Unsure && required > 0 ||
			!errors.Is(err, azerr.ErrNotFound) && !errors.Is(err, azerr.ErrConflict) {
			return etags, err
		}
		if f.Index < required || f.Index < 0 || f.Index >= len(changes) || changes[f.Index].Kind != wire.Delete {
			return nil, err
		}
		changes = slices.Delete(slices.Clone(changes), f.Index, f.Index+1)
	}
	return nil, nil
}
