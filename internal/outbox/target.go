package outbox

import (
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// drainRow is one row of a drain in one round.
type drainRow struct {
	claim view.Claim
	view  *view.View
	table *view.RemoteTable // nil: the view's target is not a table
	read  bool              // whether found has to be read
	found view.Found

	early         bool   // found was read before the commit: only a write shows that the row was right after it
	reservedETag  string // of this operation's own reservation, which is replaced without reading it
	unchecked     bool   // a write was sent that is correct only if the primary has not changed
	rereadPrimary bool   // the primary must be read after the row
}

// knows fails with a [*types.ViewMismatchError] if this Store cannot bring refs up to date,
// because the program with that listing had other definitions of their views.
func (s *Store) knows(refs []types.RowRef, listing view.Listing) error {
	for _, ref := range refs {
		if err := s.Views.CheckView(listing, ref.View); err != nil {
			return err
		}
	}
	return nil
}

// targets makes a target of each row of the drain. Rows of views that are gone are left alone.
func (s *Store) targets(d *drain) ([]drainRow, error) {
	if err := s.knows(d.refs, ""); err != nil {
		return nil, err
	}
	var targets []drainRow
	for _, ref := range d.refs {
		if s.Views.Gone(ref.View) {
			continue
		}
		v, err := s.Views.View(ref.View)
		if err != nil {
			return nil, err
		}
		t := drainRow{view: v, claim: view.Claim{
			View: v, Key: ref.Key(), Owner: d.primary, Op: d.op,
			MayOverwrite: func(ctx context.Context, owned *view.OwnedByOther) (bool, error) {
				return s.mayOverwrite(ctx, v, ref.Key(), owned)
			},
		}}
		t.table, _ = s.tableOf(v)
		known := false
		t.found, known = d.found[ref]
		if found, early := d.early[ref]; early {
			t.found, t.early = found, true
		}
		t.read = t.table != nil && !known && !t.early
		// No version of the primary is known to imply a row that a repair names, or that an earlier attempt has
		// reserved. So it is deleted, unless a later operation has taken it.
		t.rereadPrimary = !t.early && v.Shape.Kind == types.Copies && !slices.ContainsFunc(d.diffs, func(of view.Diff) bool {
			return of.View == v && of.Key == ref.Key() && (of.New != nil || !of.Repair)
		})
		for k := range d.diffs {
			t.useDiff(&d.diffs[k], d.reserved[ref])
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// useDiff applies what the writer knows about a row: a new row can be inserted without
// reading it, and a row that the operation has reserved itself can be replaced so.
func (t *drainRow) useDiff(d *view.Diff, r *reservation) {
	if d.Key != t.claim.Key || d.View.TargetID() != t.view.TargetID() || d.View.Shape.Kind != types.Copies || d.Repair {
		return
	}
	if d.Old != nil {
		t.claim.Old, t.claim.Only = d.Old.Body, d.Old.Copy.Only
	}
	switch {
	case d.View != t.view:
	case d.Unique() && r != nil && r.etag != "":
		t.reservedETag, t.read = r.etag, false
	case d.New != nil && d.Old == nil && !d.New.Copy.Unique:
		t.read = false // if a row exists the insert fails
	}
	givenUp := d.New == nil || d.View != t.view
	t.rereadPrimary = t.rereadPrimary || !t.early && givenUp && d.Old != nil && d.Old.Copy.Unique
}

// ref identifies the row.
func (t *drainRow) ref() types.RowRef {
	return types.RowRef{View: t.view.Name, Partition: t.claim.Key.Partition, Row: t.claim.Key.Row}
}

func (s *Store) readRows(ctx context.Context, targets []drainRow) error {
	var read []*drainRow
	for i := range targets {
		if targets[i].read {
			read = append(read, &targets[i])
		}
	}
	return calls.Each(ctx, len(read), s.Parallel, func(ctx context.Context, i int) error { return s.readTarget(ctx, read[i]) })
}

// readTarget reads the row of a target. One request, if the claim takes no more, and another
// one if a different operation of the primary has reserved the row. If that operation is
// decided, the row is no longer held for it. The primary must then be read afterwards, so that
// its version includes the operation.
//
// If it has no outbox row, it is undecided, or was completed since the row was read. So the row is
// read again. If it has not changed, the operation had not written it when the outbox row was
// read, so it was not applied until then. Otherwise what was read now counts, and the primary must
// be read afterwards.
func (s *Store) readTarget(ctx context.Context, t *drainRow) (err error) {
	if t.found, err = t.table.Read(ctx, &t.claim); err != nil {
		return err
	}
	for {
		op, err := t.claim.HeldBy(t.found)
		if err != nil || op == "" {
			return err
		}
		_, decided, err := s.readRecord(ctx, t.claim.Owner.Partition, op)
		if err != nil {
			return err
		}
		if decided {
			t.claim.Decided, t.rereadPrimary = op, true
			return nil
		}
		was := t.found.Row.ETag
		if t.found, err = t.table.Read(ctx, &t.claim); err != nil || t.found.Row.ETag == was {
			return err
		}
		t.rereadPrimary = true
	}
}

// each calls do(0) to do(n-1) concurrently, within the limit of the Store.
func (s *Store) each(n int, do func(i int)) {
	_ = calls.Each(context.Background(), n, s.Parallel, func(_ context.Context, i int) error {
		do(i)
		return nil
	})
}

// want fills in what the primary implies for the row. listed means that the primary lists
// the view, byHand that it lists no view at all, so that no Store has written it.
func (t *drainRow) want(rows []view.Derived, listed, byHand bool) {
	for i := range rows {
		switch r := &rows[i]; {
		case r.View != t.view || r.Key != t.claim.Key:
		case listed:
			t.claim.Wanted, t.claim.Body, t.claim.Only, t.claim.Merge = true, r.Body, r.Copy.Only, r.Merge
		case byHand && r.Kind != types.Merges:
			t.claim.Keep = true
		}
	}
}

// write is the one conditional write of a target in a round. A write over the reservation of
// the operation itself cannot be outdated: an operation that has changed the row since replaces
// or deletes the reservation, because no version of the primary implies it.
func (t *drainRow) write(ctx context.Context) (wrote bool, err error) {
	switch {
	case t.table == nil:
		_, other := t.view.Where()
		wrote, err = other.Reconcile(ctx, t.claim)
	case t.reservedETag != "" && t.claim.Wanted:
		w := txn.Over(t.claim.Key, txn.Row{ETag: t.reservedETag}, t.claim.Body)
		return true, t.table.Send(ctx, []*wire.Write{&w})
	case t.reservedETag != "":
		return false, view.ErrRaced // the primary has changed: read the row first
	default:
		wrote, err = t.table.Write(ctx, &t.claim, t.found)
	}
	t.unchecked = wrote
	return wrote, err
}
