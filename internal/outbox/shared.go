package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// A unique view may be added to a table in which several primaries imply the same row. One of them
// gets the row and lists the view; the others do not list it. While copies of the view name
// [types.SharedRows], the following holds:
//
//   - A primary that does not list the view may change, as long as it implies the same row.
//   - A primary that did not imply the row takes it only if no such primary is left, also if the one
//     that had the row has given it up.
//
// So the number of primaries that imply a row and do not list the view never grows: one of them
// cannot take back what it has given up without the check. A primary that lists the view needs no
// check, because only one of those has the row. Therefore it does not matter when the check is made,
// or what happens after it.

// leaveApart reports whether a transaction that failed with err is to be repeated with a primary
// left as it is in the view, because another primary has its row: it implied the row before, and
// does not list the view. That holds for the version that was read, not for another one that the
// repetition reads.
func (t *transaction) leaveApart(err error) bool {
	var duplicate *types.DuplicateError
	if !errors.As(err, &duplicate) {
		return false
	}
	apart := func(op *operation, d *view.Diff) bool {
		if op == nil || op.Fill || op.Repair || d.Key != duplicate.Key || d.View.Name != duplicate.View || slices.Contains(op.apart, duplicate.View) ||
			d.Tracked || d.Old == nil || d.New == nil || d.New.Copy.Shared.View == "" {
			return false
		}
		op.apart, op.since = append(op.apart, duplicate.View), op.was.ETag
		return true
	}
	for i := range t.local {
		for k := range t.local[i].Diffs {
			if d := &t.local[i].Diffs[k]; apart(t.of(d.Primary), d) {
				return true
			}
		}
	}
	for _, op := range t.ops {
		for i := range op.remote {
			if apart(op, &op.remote[i]) {
				return true
			}
		}
	}
	return false
}

// checkShared fails with a [*types.DuplicateError] if a primary is about to take a row that another
// one implies which does not list the view. One request for each such row, and one for each primary
// that its [types.SharedRows] name.
func (t *transaction) checkShared(ctx context.Context) error {
	for _, d := range t.taken() {
		if err := t.store.checkRowShared(ctx, t, d); err != nil {
			op := t.of(d.Primary)
			return op.failed(fmt.Errorf("%s: %w", op.Op, err))
		}
	}
	return nil
}

// taken returns the rows that checkShared checks.
func (t *transaction) taken() (all []*view.Diff) {
	add := func(some []view.Diff) {
		for i := range some {
			if d := &some[i]; d.Old == nil && !d.Unlisted && d.New != nil && d.New.Copy.Shared.View != "" {
				all = append(all, d)
			}
		}
	}
	for i := range t.local {
		add(t.local[i].Diffs)
	}
	for _, op := range t.ops {
		add(op.remote)
	}
	return all
}

// checkRowShared is checkShared for one row.
func (s *Store) checkRowShared(ctx context.Context, t *transaction, d *view.Diff) error {
	shared := d.New.Copy.Shared
	v, err := s.Views.View(shared.View)
	if err != nil {
		return err
	}
	table, ok := s.tableOf(v)
	if !ok {
		return view.BadView(v.Name, "its target is no table")
	}
	return txn.ReadRange(ctx, table.Client, shared.Partition, shared.Rows, "", func(key keys.Key, row edm.Properties) error {
		primary, ok, err := v.PrimaryOf(key, row)
		if err != nil || !ok || primary == d.Primary {
			return err
		}
		holds, err := s.holdsUnlisted(ctx, t, d, primary)
		if err == nil && holds {
			err = &types.DuplicateError{View: d.View.Name, Key: d.Key}
		}
		return err
	})
}

// holdsUnlisted reports whether a primary that does not list the view of d implies the row of d.
func (s *Store) holdsUnlisted(ctx context.Context, t *transaction, d *view.Diff, primary keys.Key) (bool, error) {
	if op := t.of(primary); op != nil {
		return !op.views.Listing().Has(d.View.Name) && hold(op.rows, d.View, d.Key), nil
	}
	r, err := s.find(ctx, primary)
	if err != nil || r == nil || view.ListingOf(r.Origin).Has(d.View.Name) {
		return false, err
	}
	implied, err := s.implied(r)
	return err == nil && hold(implied, d.View, d.Key), err
}
