package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// plan is what an attempt found out about one primary, and what it is going to write.
type plan struct {
	was     *txn.Record
	now     any            // the new version of the entity, nil to delete it
	rows    []view.Derived // of the new version
	remote  []view.Diff
	primary txn.Change
	origin  *txn.Origin // of the record that results
	views   *view.Set   // that have rows of the new version
}

// plan reads the primaries, if necessary, and derives the rows of both versions of each.
func (t *transaction) plan(ctx context.Context) error {
	s := t.store
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Parallel)
	for _, op := range t.ops {
		op.plan, op.part = plan{was: op.Was}, nil
		if strings.HasPrefix(op.Key.Row, view.ReservedRow) {
			return op.failed(fmt.Errorf("%s: %w: a row key begins with %q", op.Op, keys.ErrBadKey, view.ReservedRow))
		}
		if !op.Known {
			g.Go(func() (err error) {
				op.was, err = s.find(gctx, op.Key)
				return op.failed(err)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	t.changed = nil
	var local []view.Diff
	for _, op := range t.ops {
		diffs, err := t.derive(op)
		if err != nil {
			return op.failed(err)
		}
		if op.was != nil || op.now != nil {
			t.changed = append(t.changed, op)
			local = append(local, diffs...)
		}
	}
	var err error
	if t.local, err = view.LocalRows(local); err != nil {
		return t.failedDiff(err)
	}
	return t.checkTogether()
}

// derive fills in the plan of op and returns its local differences.
func (t *transaction) derive(op *operation) ([]view.Diff, error) {
	s := t.store
	var origin *txn.Origin
	if op.was != nil {
		origin = op.was.Origin
	}
	listing := view.ListingOf(origin)
	if err := s.Views.Check(listing); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	t.check = t.check || !listing.Certain() // another definition may have made the rows
	op.views = s.Views.After(listing)
	old, err := s.Views.Before(listing).Derive(valueOf(op.was), op.Key) // before Next, which may change what was refers to
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if op.now, err = op.Next(op.was); err != nil {
		return nil, err
	}
	if err := op.encode(s, origin); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if op.rows, err = op.views.Derive(op.now, op.Key); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if op.Fill {
		old = slices.DeleteFunc(old, func(d view.Derived) bool { return !listing.Has(d.View.Name) })
	}
	local, remote := view.Differences(op.Key, old, op.rows, listing.Has, op.Repair)
	op.remote = remote
	if len(remote) > 0 && s.Queue == nil {
		return nil, fmt.Errorf("%s: %w", op.Op, view.NoOutbox(remote[0].View.Name))
	}
	return local, nil
}

// notTogether is the error of an operation that cannot be in one transaction with another
// operation of it. One after the other they may succeed.
type notTogether struct{ err error }

func (e *notTogether) Error() string { return e.err.Error() }
func (e *notTogether) Unwrap() error { return e.err }

// checkTogether fails if an operation cannot be in one transaction with another: it changes
// the row of the other's entity, both imply the same remote copy, or it needs a unique
// remote copy that the other gives up, which cannot be reserved before that.
func (t *transaction) checkTogether() error {
	if len(t.ops) == 1 {
		return nil
	}
	for i := range t.local {
		d := &t.local[i].Diffs[0]
		if t.of(d.Key) != nil {
			return t.of(d.Primary).failed(&notTogether{&view.Error{View: d.View.Name,
				Err: fmt.Errorf("it changes the row of another entity of the transaction: %w", azerr.ErrDuplicateRow)}})
		}
	}
	type address struct {
		target string
		key    keys.Key
	}
	seen := map[address][]*view.Diff{}
	for _, op := range t.changed {
		for i := range op.remote {
			d := &op.remote[i]
			at := address{d.View.TargetID(), d.Key}
			for _, o := range seen[at] {
				err := &view.DuplicateError{View: d.View.Name, Key: d.Key}
				switch {
				case d.View.Shape.Kind != view.Copies || o.View.Shape.Kind != view.Copies || o.Primary == d.Primary:
				case o.New != nil && d.New != nil:
					return op.failed(err)
				case o.Unique() || d.Unique():
					return op.failed(&notTogether{err})
				}
			}
			seen[at] = append(seen[at], d)
		}
	}
	return nil
}

// encode makes the change of the primary's row.
func (op *operation) encode(s *Store, origin *txn.Origin) error {
	c := txn.Change{Op: op.Op, Computed: op.Computed}
	c.PartitionKey, c.RowKey = op.Key.Partition, op.Key.Row
	c.Kind = wire.Insert
	if op.was != nil {
		c.Kind, c.ETag = wire.Replace, op.was.ETag
	}
	if op.now == nil {
		c.Kind = wire.Delete
		op.primary = c
		return nil
	}
	key, err := s.Table.KeyOf(op.now)
	if err != nil {
		return err
	}
	if key != op.Key {
		return azerr.ErrKeyChanged
	}
	op.origin = &txn.Origin{}
	if origin != nil {
		*op.origin = *origin
	}
	if l := op.views.Listing(); l != view.ListingOf(origin) {
		op.origin.Unknown = op.origin.Unknown.WithText(view.PropViews, string(l))
	}
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Unknown: &op.origin.Unknown}
	if s.Table.Stamped {
		if op.was != nil {
			c.Base = txn.BaseStamps(op.was.ETag, op.origin.Stamp)
		}
		c.ID, e.Stamp = txn.NextStamps(c.Base)
		op.origin.Stamp = e.Stamp
	}
	c.Body, err = s.Table.Codec.Append(nil, op.now, e)
	op.primary = c
	return err
}

// record is the primary after the operation.
func (p *plan) record(key keys.Key, etag string) txn.Record {
	return txn.Record{Value: p.now, Key: key, ETag: etag, Origin: p.origin}
}

// addLocal adds the changes of the local rows to the transaction.
func (t *transaction) addLocal(ctx context.Context, batch *txn.Batch) error {
	s := t.store
	found := make([]*txn.Row, len(t.local))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Parallel)
	for i := range t.local {
		if r := &t.local[i]; t.check || !r.Blind() {
			g.Go(func() error {
				row, err := txn.ReadRow(gctx, s.Table.Client, r.Key)
				found[i] = &row
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("%s: %w", t.name(), err)
	}
	for i := range t.local {
		w, changed, err := t.localWrite(ctx, &t.local[i], found[i])
		if err != nil {
			return t.failedDiff(err)
		}
		if changed {
			batch.AddChange(txn.Change{Write: w, Op: w.Kind.String(), Computed: true}, nil)
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
			err = &view.DuplicateError{View: owned.View, Key: r.Key}
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
			return !holds(op.rows, v, key), nil
		}
	}
	return t.store.mayOverwrite(ctx, v, key, owned)
}

// holds reports whether a primary that implies rows keeps others from having the row of v
// at key.
func holds(rows []view.Derived, v *view.View, key keys.Key) bool {
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
			if err := s.fence(ctx, Message{Partition: owned.Owner.Partition, ID: owned.Op}); err != nil {
				return false, err
			}
		}
	}
	owner, err := s.find(ctx, owned.Owner)
	if err != nil || owner == nil {
		return err == nil, err
	}
	if s.Views.Gone(owned.As) {
		return false, nil
	}
	listing := view.ListingOf(owner.Origin)
	if err := s.Views.CheckView(listing, owned.As); err != nil {
		return false, err
	}
	rows, err := s.Views.Before(listing).Derive(owner.Value, owner.Key)
	if err != nil {
		return false, err
	}
	return !holds(rows, v, key), nil
}
