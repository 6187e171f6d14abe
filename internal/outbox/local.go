package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// addLocal adds the changes of the local rows to the transaction.
func (t *transaction) addLocal(ctx context.Context, batch *txn.Batch) error {
	s := t.store
	found := make([]*txn.Row, len(t.local))
	var read []int
	for i := range t.local {
		r := &t.local[i]
		if t.repairsRows() {
			d := &r.Diffs[0]
			row := t.of(d.Primary).Found[d.Ref(d.View)].Row
			found[i] = &row
		} else if t.check || !r.Blind() {
			read = append(read, i)
		}
	}
	err := calls.Each(ctx, len(read), s.Parallel, func(ctx context.Context, i int) error {
		row, err := txn.ReadRow(ctx, s.Table.Client, t.local[read[i]].Key)
		found[read[i]] = &row
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t.name(), err)
	}
	for i := range t.local {
		w, changed, err := t.localWrite(ctx, &t.local[i], found[i])
		if err != nil {
			return t.failedDiff(err)
		}
		if changed {
			batch.AddChange(txn.Change{Write: w, Op: w.Kind.String()}, nil)
		}
	}
	return nil
}

// failedDiff returns the error of a local row as that of the operation that caused it.
func (t *transaction) failedDiff(err error) error {
	var diff *view.DiffError
	if !errors.As(err, &diff) {
		return fmt.Errorf("%s: %w", t.name(), err)
	}
	op := t.of(diff.Primary)
	return op.failed(fmt.Errorf("%s: %w", op.Op, err))
}

// localWrite returns the write of one local row; found is nil if the row was not read.
func (t *transaction) localWrite(ctx context.Context, r *view.LocalRow, found *txn.Row) (wire.Write, bool, error) {
	if found == nil {
		return r.BlindWrite(), true, nil
	}
	var formers []view.Former
	for {
		w, changed, err := r.Write(*found, formers...)
		var diff *view.DiffError
		var owned *view.OwnedByOther
		if !errors.As(err, &diff) || !errors.As(err, &owned) {
			return w, changed, err
		}
		v, err := t.store.Views.View(owned.View)
		if err != nil {
			return w, false, &view.DiffError{Primary: diff.Primary, Err: err}
		}
		former := view.Former{View: owned.View, Owner: owned.Owner}
		free := false
		if !slices.Contains(formers, former) {
			free, err = t.mayOverwrite(ctx, v, r.Key, owned)
		}
		if err == nil && !free {
			err = &types.DuplicateError{View: owned.View, Key: r.Key}
		}
		if err != nil {
			return w, false, &view.DiffError{Primary: diff.Primary, Err: err}
		}
		formers = append(formers, former)
	}
}

// mayOverwrite is [Store.mayOverwrite] for a local row. What an entity of the transaction
// implies is determined by its new version.
func (t *transaction) mayOverwrite(ctx context.Context, v *view.View, key keys.Key, owned *view.OwnedByOther) (bool, error) {
	if owned.Known && owned.Op == "" {
		if op := t.of(owned.Owner); op != nil {
			return !hold(op.rows, v, key), nil
		}
	}
	return t.store.mayOverwrite(ctx, v, key, owned)
}

// confirmDuplicate returns the error of an attempt that failed with err. If another primary has a
// row that follows from a version which was read before the row, that version may be outdated:
// its primary may have passed the row on. So it is read again, one request for each primary.
func (t *transaction) confirmDuplicate(ctx context.Context, err error) error {
	var duplicate *types.DuplicateError
	if !errors.As(err, &duplicate) {
		return err
	}
	var diffs []*view.Diff
	for i := range t.local {
		diffs = append(diffs, &t.local[i].Diffs[0])
	}
	for _, op := range t.ops {
		for i := range op.remote {
			diffs = append(diffs, &op.remote[i])
		}
	}
	if !slices.ContainsFunc(diffs, func(d *view.Diff) bool {
		return d.Key == duplicate.Key && d.View.Name == duplicate.View && (d.Old != nil || d.Unlisted || d.Repair)
	}) {
		return err
	}
	outdated := false
	for _, op := range t.changed {
		if op.was == nil {
			continue
		}
		now, rerr := txn.ReadRow(ctx, t.store.Table.Client, op.Key)
		switch {
		case rerr != nil:
			return op.failed(fmt.Errorf("%s: %w", op.Op, rerr))
		case now.ETag == op.was.ETag:
		case op.former != nil:
			op.former, outdated = nil, true
		case !op.Reread && now.ETag == "":
			return op.failed(fmt.Errorf("%s: %w", op.Op, azerr.ErrNotFound))
		case !op.Reread:
			return op.failed(fmt.Errorf("%s: %w", op.Op, azerr.ErrConflict))
		default:
			op.Was, op.Known, outdated = nil, false, true
		}
	}
	if outdated {
		return &retryable{err}
	}
	return err
}

// hold reports whether a primary that implies rows keeps others from having the row of v
// at key.
func hold(rows []view.Derived, v *view.View, key keys.Key) bool {
	for i := range rows {
		if r := &rows[i]; r.Key == key && r.View.TargetID() == v.TargetID() && r.Holds(v) {
			return true
		}
	}
	return false
}

// mayOverwrite reports whether a row that belongs to another primary may be taken from
// it: that primary no longer implies the row, and no operation is about to make it.
func (s *Store) mayOverwrite(ctx context.Context, v *view.View, key keys.Key, owned *view.OwnedByOther) (bool, error) {
	if !owned.Known {
		return false, nil
	}
	if owned.Op != "" {
		_, decided, err := s.readRecord(ctx, owned.Owner.Partition, owned.Op)
		if err != nil {
			return false, err
		}
		table, ok := s.tableOf(v)
		if !decided && (!ok || table.Client.Age(owned.At) < s.Grace) {
			return false, nil // the operation may be in progress
		}
		if !decided {
			if err := s.fence(ctx, types.OutboxMessage{Partition: owned.Owner.Partition, ID: owned.Op}); err != nil {
				return false, err
			}
		}
	}
	owner, err := s.holder(ctx, v, key, owned)
	if err != nil || owner == nil || !s.expired(owner.Value) || s.Table.Writable.Check(owner.Key.Partition) != nil {
		return err == nil && owner == nil, err
	}
	if _, err = s.Run(ctx, Deletion(owner)); errors.Is(err, azerr.ErrConflict) || errors.Is(err, azerr.ErrNotFound) {
		err = &retryable{err} // it was changed meanwhile
	}
	return err == nil, err
}

// holder returns the primary that a row belongs to, nil if the row is not derived from it. One request.
func (s *Store) holder(ctx context.Context, v *view.View, key keys.Key, owned *view.OwnedByOther) (*txn.Record, error) {
	owner, err := s.find(ctx, owned.Owner)
	if err != nil || owner == nil {
		return nil, err
	}
	if holds, err := s.implies(owner, v, key, owned); err != nil || !holds {
		return nil, err
	}
	return owner, nil
}

// implies reports whether the row of v at key, which belongs to owner, is derived from it.
func (s *Store) implies(owner *txn.Record, v *view.View, key keys.Key, owned *view.OwnedByOther) (bool, error) {
	if s.Views.Gone(owned.As) {
		return true, nil
	}
	listing := view.ListingOf(owner.Origin)
	if err := s.Views.CheckView(listing, owned.As); err != nil {
		return false, err
	}
	rows, err := s.Views.Before(listing).Derive(owner.Value, owner.Key, unknownOf(owner.Origin))
	return hold(rows, v, key), err
}
