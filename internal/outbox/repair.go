package outbox

import (
	"context"
	"errors"
	"fmt"
	"github.com/azpatterns/azpatterns/internal/fetch"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Repair rewrites the rows derived from the entity at key: the named ones, or all of
// them if none is named. Package patterns documents it.
func (s *Store) Repair(ctx context.Context, key keys.Key, refs ...types.RowRef) error {
	in := &Intent{Op: "repair", Key: key, Reread: true, Repeatable: true, Repair: true, Rows: refs}
	if len(refs) > 0 && !s.hasLookup(refs) {
		if _, err := s.Run(ctx, in); !errors.Is(err, ErrStale) {
			return err
		}
	}
	in.Rows, in.Next = nil, func(was *txn.Record) (any, error) {
		if was == nil {
			return nil, fmt.Errorf("repair: %w", azerr.ErrNotFound)
		}
		return was.Value, nil
	}
	_, err := s.Run(ctx, in)
	return err
}

// ErrStale means that the primary does not list the view of a row to repair, so a program
// without the view may change the primary. Repair all rows, which stores a new listing.
var ErrStale = azerr.Sentinel("the primary does not list the view")

// findLocal reads those of op's Rows that are in the primary's partition. That is done before
// the primary is read: if there is none, one that is inserted later writes the rows itself, so
// conditions on what was found fail.
func (s *Store) findLocal(ctx context.Context, op *operation) error {
	op.Found = nil
	if op.Rows != nil {
		op.Found = map[types.RowRef]view.Found{}
	}
	for _, ref := range op.Rows {
		v, err := s.Views.View(ref.View)
		if err == nil && s.isLocal(v, op.Key, ref) {
			var row txn.Row
			row, err = txn.ReadRow(ctx, s.Table.Client, ref.Key())
			op.Found[ref] = view.Found{Row: row}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", op.Op, err)
		}
	}
	return nil
}

func (s *Store) isLocal(v *view.View, primary keys.Key, ref types.RowRef) bool {
	return !v.Foreign() && ref.Partition == primary.Partition
}

// repairs plans an operation that repairs only its Rows, and returns the local differences. The
// transaction changes nothing of the primary but its ETag, on condition that it is the version
// that was read, so that the rows follow from the version that exists then.
func (s *Store) repairs(op *operation, implied []view.Derived) (local []view.Diff, err error) {
	var listing view.Listing
	op.rows = implied
	if op.was != nil {
		listing = view.ListingOf(op.was.Origin)
		op.now, op.origin = op.was.Value, op.was.Origin
		op.primary = txn.Change{Op: op.Op}
		op.primary.Kind, op.primary.PartitionKey, op.primary.RowKey, op.primary.ETag = wire.Merge, op.Key.Partition, op.Key.Row, op.was.ETag
		op.primary.Body, err = edm.AppendProperties(nil, nil, edm.Envelope{PartitionKey: op.Key.Partition, RowKey: op.Key.Row})
	}
	for _, ref := range op.Rows {
		v, verr := s.Views.View(ref.View)
		if err = errors.Join(err, verr); err != nil {
			break
		}
		if op.was != nil {
			err = s.Views.CheckView(listing, ref.View)
		}
		d := view.Diff{Primary: op.Key, View: v, Key: ref.Key(), Tracked: true, Repair: true}
		for i := range implied {
			if implied[i].View == v && implied[i].Key == d.Key {
				d.Old, d.New = &implied[i], &implied[i]
			}
		}
		if err == nil && d.New != nil && s.Views.Adds(ref.View, listing) {
			err = ErrStale
		}
		switch {
		case err != nil:
		case !s.isLocal(v, op.Key, ref):
			op.remote = append(op.remote, d)
		case v.Shape.Kind == types.Merges:
			err = view.BadView(ref.View, "what is merged within the partition follows from all primaries")
		default:
			local = append(local, d)
		}
	}
	if err == nil && len(op.remote) > 0 && s.Queue == nil {
		err = view.NoOutbox(op.remote[0].View.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Op, err)
	}
	return local, nil
}

// Corrections returns the intents to correct rows that Check has returned, except those that are
// held, or superfluous: of named rows, and of all rows of a primary, which go in different transactions. requests is
// what they take besides [Store.Requests].
func (s *Store) Corrections(rows []Checked) (all [2][]*Intent, requests int) {
	type target struct {
		primary keys.Key
		whole   int
	}
	of := map[target]*Intent{}
	for i := range rows {
		c := &rows[i]
		if c.Held || c.Superfluous() {
			continue
		}
		at := target{primary: c.Primary}
		if c.Wanted && (c.view.Shape.Kind == types.Merges && c.table == nil || c.view.Shape.Kind == types.Lookups || s.Views.Adds(c.Ref.View, view.ListingOf(c.was.Origin))) {
			at.whole = 1
		}
		in := of[at]
		if in == nil {
			in = unchanged("repair", c.Primary, c.was)
			in.Repair, in.Found, of[at] = true, map[types.RowRef]view.Found{}, in
			all[at.whole] = append(all[at.whole], in)
		}
		in.Corrects++
		if in.Found[c.Ref] = c.found; at.whole == 0 {
			in.Rows = append(in.Rows, c.Ref)
		}
		if c.other != nil {
			requests++ // to read the primary that the row belonged to
		}
	}
	return all, requests
}

// Filling returns the intent to store the rows of a view for the primary that was read as e, or to
// remove those of a retired one; nil if e is no primary, or has them.
func (s *Store) Filling(e *fetch.Entry, name string) *Intent {
	r, err := s.PrimaryOf(e)
	if err != nil || r == nil {
		return nil
	}
	listing := view.ListingOf(r.Origin)
	if !s.Views.Adds(name, listing) && !(listing.Has(name) && s.Views.IsRetired(name)) {
		return nil
	}
	in := unchanged("backfill", r.Key, r)
	in.Fill = true
	return in
}

// unchanged returns an intent that leaves a primary, nil for none, as it is.
func unchanged(op string, key keys.Key, primary *txn.Record) *Intent {
	return &Intent{Op: op, Key: key, Was: primary, Known: true, Reread: true, Repeatable: true, IfExists: true, Next: func(was *txn.Record) (any, error) {
		return valueOf(was), nil
	}}
}
