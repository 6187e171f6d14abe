package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// plan is what an attempt found and what it is going to write.
type plan struct {
	was     *txn.Record
	now     any // the new version of the entity, nil to delete it
	local   []view.LocalRow
	remote  []view.Diff
	primary txn.Change
	origin  *txn.Origin // of the record that results
}

// plan reads the primary, if necessary, and derives the rows of both versions.
func (op *operation) plan(ctx context.Context) (*plan, error) {
	s := op.store
	p := &plan{was: op.Was}
	if strings.HasPrefix(op.Key.Row, view.ReservedRow) {
		return nil, fmt.Errorf("%s: %w: a row key begins with %q", op.Op, keys.ErrBadKey, view.ReservedRow)
	}
	if !op.Known {
		var err error
		if p.was, err = s.find(ctx, op.Key); err != nil {
			return nil, err
		}
	}
	var origin *txn.Origin
	if p.was != nil {
		origin = p.was.Origin
	}
	listing := view.ListingOf(origin)
	if err := s.Views.Check(listing); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	op.check = op.check || !listing.Certain()          // another definition may have made the rows
	old, err := s.Views.Derive(valueOf(p.was), op.Key) // before Next, which may change what was refers to
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	if p.now, err = op.Next(p.was); err != nil {
		return nil, err
	}
	if err := op.encode(p, origin); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	now, err := s.Views.Derive(p.now, op.Key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	local, remote := view.Differences(op.Key, old, now, listing.Has, op.Repair)
	p.local, p.remote = view.LocalRows(local), remote
	if len(remote) > 0 && s.Queue == nil {
		return nil, fmt.Errorf("%s: %w", op.Op, view.NoOutbox(remote[0].View.Name))
	}
	return p, nil
}

// encode makes the change of the primary's row.
func (op *operation) encode(p *plan, origin *txn.Origin) error {
	t := op.store.Table
	c := txn.Change{Op: op.Op, Computed: op.Computed}
	c.PartitionKey, c.RowKey = op.Key.Partition, op.Key.Row
	c.Kind = wire.Insert
	if p.was != nil {
		c.Kind, c.ETag = wire.Replace, p.was.ETag
	}
	if p.now == nil {
		c.Kind = wire.Delete
		p.primary = c
		return nil
	}
	key, err := t.KeyOf(p.now)
	if err != nil {
		return err
	}
	if key != op.Key {
		return azerr.ErrKeyChanged
	}
	p.origin = &txn.Origin{}
	if origin != nil {
		*p.origin = *origin
		p.origin.Unknown = view.Unpart(origin.Unknown)
	}
	if l := op.store.Views.Listing(); l != view.ListingOf(origin) {
		p.origin.Unknown = p.origin.Unknown.WithText(view.PropViews, string(l))
	}
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Unknown: &p.origin.Unknown}
	if t.Stamped {
		if p.was != nil {
			c.Base = txn.BaseStamps(p.was.ETag, p.origin.Stamp)
		}
		c.ID, e.Stamp = txn.NextStamps(c.Base)
		p.origin.Stamp = e.Stamp
	}
	c.Body, err = t.Codec.Append(nil, p.now, e)
	p.primary = c
	return err
}

// record is the primary after the operation.
func (p *plan) record(key keys.Key, etag string) txn.Record {
	return txn.Record{Value: p.now, Key: key, ETag: etag, Origin: p.origin}
}

// addLocal adds the changes of the local rows to the transaction.
func (op *operation) addLocal(ctx context.Context, batch *txn.Batch, p *plan) error {
	s := op.store
	found := make([]*txn.Row, len(p.local))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Parallel)
	for i := range p.local {
		if r := &p.local[i]; op.check || !r.Blind() {
			g.Go(func() error {
				row, err := txn.ReadRow(gctx, s.Table.Client, r.Key)
				found[i] = &row
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("%s: %w", op.Op, err)
	}
	for i := range p.local {
		w, changed, err := op.localWrite(ctx, &p.local[i], found[i])
		if err != nil {
			return fmt.Errorf("%s: %w", op.Op, err)
		}
		if changed {
			batch.AddChange(txn.Change{Write: w, Op: w.Kind.String(), Computed: true}, nil)
		}
	}
	return nil
}

// localWrite returns the write of one local row; found is nil if the row was not read.
func (op *operation) localWrite(ctx context.Context, r *view.LocalRow, found *txn.Row) (wire.Write, bool, error) {
	if found == nil {
		return r.BlindWrite(), true, nil
	}
	w, changed, err := r.Write(op.Key, *found, nil)
	var owned *view.OwnedByOther
	if !errors.As(err, &owned) {
		return w, changed, err
	}
	name := owned.View
	v, err := op.store.Views.View(name)
	if err != nil {
		return w, false, err
	}
	free, err := op.store.mayOverwrite(ctx, v, r.Key, owned)
	if err != nil {
		return w, false, err
	}
	if free {
		if w, changed, err = r.Write(op.Key, *found, &owned.Owner); !errors.As(err, &owned) {
			return w, changed, err
		}
	}
	return w, false, &view.DuplicateError{View: name, Key: r.Key}
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
	if s.Views.Retired(owned.As) {
		return false, nil
	}
	if err := s.Views.CheckView(view.ListingOf(owner.Origin), owned.As); err != nil {
		return false, err
	}
	rows, err := s.Views.Derive(owner.Value, owner.Key)
	if err != nil {
		return false, err
	}
	for i := range rows {
		if r := &rows[i]; r.Key == key && r.View.TargetID() == v.TargetID() && r.Holds(v) {
			return false, nil
		}
	}
	return true, nil
}
