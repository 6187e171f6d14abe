package view

import (
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// LocalRow is a row in the primary's partition and everything that a change of the
// primary means for it: one difference, or several merges of different views.
type LocalRow struct {
	Key   keys.Key
	Diffs []Diff
}

// LocalRows groups local differences by row, in key order. It leaves out differences
// that need no write.
func LocalRows(local []Diff) []LocalRow {
	var all []LocalRow
	for _, d := range local {
		if d.unchanged() {
			continue
		}
		i := slices.IndexFunc(all, func(r LocalRow) bool { return r.Key == d.Key })
		if i < 0 {
			i = len(all)
			all = append(all, LocalRow{Key: d.Key})
		}
		all[i].Diffs = append(all[i].Diffs, d)
	}
	slices.SortFunc(all, func(a, b LocalRow) int { return compareKeys(a.Key, b.Key) })
	return all
}

// Blind reports whether the row can be written without being read first: it is a copy,
// and the primary's old version determines what is stored.
func (r *LocalRow) Blind() bool {
	d := &r.Diffs[0]
	return d.View.Shape.Kind == Copies && (d.Old == nil || d.Tracked)
}

// BlindWrite returns the write of a row that is [LocalRow.Blind]. The write fails, and
// with it the transaction, if the row exists and should not, or the other way round.
func (r *LocalRow) BlindWrite() wire.Write {
	d := &r.Diffs[0]
	switch {
	case d.Old == nil:
		return txn.Over(r.Key, txn.Row{}, d.New.Body)
	case d.New == nil:
		return txn.Delete(r.Key, "*")
	}
	return txn.Over(r.Key, txn.Row{ETag: "*"}, d.New.Body)
}

// Write returns the write that makes the row, which was read as found, what the new
// version of the primary implies. The write is conditional on found. needed is false if
// no write is necessary.
//
// Write fails with [*OwnedByOther] if the row belongs to another primary than former.
// former, if not nil, is a primary that no longer implies the row, so that its row, or
// its part of the row, may be overwritten.
func (r *LocalRow) Write(primary keys.Key, found txn.Row, former *keys.Key) (w wire.Write, needed bool, err error) {
	if d := &r.Diffs[0]; d.View.Shape.Kind == Copies {
		c := CopyClaim{View: d.View.Name, Key: r.Key, Primary: primary, Over: former}
		if d.New != nil {
			c.Body = d.New.Body
		}
		w, needed, err = c.write(found)
		return w, needed || err == nil && d.confirm(), withView(d.View.Name, err)
	}
	row, err := found.Content()
	if err != nil {
		return w, false, err
	}
	var list *View
	for i := range r.Diffs {
		d := &r.Diffs[i]
		changed, err := d.edit(row, primary, found.Absent(), former)
		if err != nil {
			return w, false, withView(d.View.Name, err)
		}
		needed = needed || changed || d.confirm()
		if d.View.Shape.Kind == Members {
			list = d.View
		}
	}
	if !needed {
		return w, false, nil
	}
	if list != nil {
		empty, err := isEmptyList(row, list.Shape.List)
		if err != nil {
			return w, false, err
		}
		if empty {
			return txn.Delete(r.Key, found.ETag), !found.Absent(), nil
		}
	}
	w, err = row.Over(r.Key, found)
	return w, true, err
}

// confirm reports whether the row is written even if its content is already right. That
// is so if the old version did not imply it: the row is then a leftover, which another
// process may be about to remove. The write makes that removal conflict with the
// transaction.
func (d *Diff) confirm() bool {
	return d.New != nil && d.stored() == nil && !d.Repair && d.View.Shape.Kind != Merges
}

// edit makes row what d implies and reports whether that changed anything. absent means
// that the row does not exist.
func (d *Diff) edit(row txn.Content, primary keys.Key, absent bool, former *keys.Key) (bool, error) {
	if d.View.Shape.Kind == Members {
		return editList(row, d.View.Name, d.View.Shape.List, primary, d.New != nil)
	}
	var before, after map[string]any
	var want *MergeSpec
	if old := d.stored(); old != nil {
		before = old.Merge.Add
	}
	if d.New != nil {
		want = &d.New.Merge
		after = want.Add
	}
	if absent {
		if want == nil {
			return false, nil
		}
		if want.Existing {
			return false, azerr.ErrNotFound
		}
		row.Properties[PropState] = statePart
	}
	set, err := editSet(row, d.View.Name, primary, want, former)
	if err != nil {
		return false, err
	}
	counted, err := editCounters(row, before, after)
	return set || counted, err
}

// withView wraps err in an [*Error], unless it names its view already.
func withView(view string, err error) error {
	var other *OwnedByOther
	if err == nil || errors.As(err, &other) {
		return err
	}
	return &Error{view, err}
}
