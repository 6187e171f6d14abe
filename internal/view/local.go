package view

import (
	"cmp"
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// LocalRow is a row in the partition of the primaries that a transaction changes, and
// everything that it means for the row: one difference of a copy, or the differences of
// a list or of merges, of several primaries and views.
type LocalRow struct {
	Key   keys.Key
	Diffs []Diff
}

// LocalRows groups local differences of one or several primaries by row, in key order. It
// leaves out differences that need no write, and changes local. A copy that one primary no longer implies and
// another one does is one difference, which changes the owner.
//
// LocalRows fails with [*DiffError] if two primaries imply the same copy, or rows of
// different kinds at the same key.
func LocalRows(local []Diff) ([]LocalRow, error) {
	local = slices.DeleteFunc(local, func(d Diff) bool { return d.unchanged() })
	slices.SortStableFunc(local, func(a, b Diff) int { return compareKeys(a.Key, b.Key) })
	all := make([]LocalRow, 0, len(local))
	for i := range local {
		if last := len(all) - 1; last >= 0 && all[last].Key == local[i].Key {
			if err := all[last].add(local[i]); err != nil {
				return nil, err
			}
			continue
		}
		all = append(all, LocalRow{local[i].Key, local[i : i+1 : i+1]})
	}
	return all, nil
}

// add adds another difference of the row.
func (r *LocalRow) add(d Diff) error {
	o, kind := &r.Diffs[0], d.View.Shape.Kind
	switch {
	case o.View.Shape.Kind != kind, kind == types.Copies && o.New != nil && d.New != nil:
		return &DiffError{d.Primary, &types.DuplicateError{View: d.View.Name, Key: d.Key}}
	case kind != types.Copies:
		r.Diffs = append(r.Diffs, d)
		return nil
	}
	if d.New == nil {
		*o, d = d, *o
	}
	if d.Old == nil || o.Tracked && !d.Tracked {
		d.Old, d.Tracked = o.Old, o.Tracked
	}
	*o = d
	return nil
}

// DiffError is the error of one difference. Its message is that of Err.
type DiffError struct {
	Primary keys.Key // of the difference
	Err     error
}

func (e *DiffError) Error() string { return e.Err.Error() }
func (e *DiffError) Unwrap() error { return e.Err }

// Blind reports whether the row can be written without being read first: it is a copy,
// and the old version of its primary determines what is stored.
func (r *LocalRow) Blind() bool {
	d := &r.Diffs[0]
	mayDiffer := d.View.Shape.Adopt == types.AdoptLeave // a row of someone else may have been left there
	return d.View.Shape.Kind == types.Copies && (d.Old == nil || d.Tracked && !mayDiffer)
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
	w := txn.Over(r.Key, txn.Row{ETag: "*"}, d.New.Body)
	if d.New.Copy.Only != nil && d.New.replacesAll(d.Old) {
		w.Kind = wire.Merge // other properties of a slim copy may be those of another program
	}
	return w
}

// replacesAll reports whether d has every property of old, an earlier version of the same copy.
func (d *Derived) replacesAll(old *Derived) bool {
	now, _, err := edm.ReadProperties(d.Body)
	before, _, err2 := edm.ReadProperties(old.Body)
	for name := range before {
		if _, exists := now[name]; !exists {
			return false
		}
	}
	return err == nil && err2 == nil
}

// Former is a primary that no longer implies a row of a view, so that its row, or its part
// of the row, may be overwritten.
type Former struct {
	View  string // the view that wants the row
	Owner keys.Key
}

// formerOf returns the former owner for a view, nil if there is none.
func formerOf(formers []Former, view string) *keys.Key {
	for i := range formers {
		if formers[i].View == view {
			return &formers[i].Owner
		}
	}
	return nil
}

// Write returns the write that makes the row, which was read as found, what the new
// versions of the primaries imply. The write is conditional on found. needed is false if
// no write is necessary.
//
// The error is a [*DiffError]. It contains an [*OwnedByOther] if the row belongs to
// another primary that is not one of formers.
func (r *LocalRow) Write(found txn.Row, formers ...Former) (w wire.Write, needed bool, err error) {
	if d := &r.Diffs[0]; d.View.Shape.Kind == types.Copies {
		c := d.Claim()
		c.Over = formerOf(formers, d.View.Name)
		w, needed, err = c.write(found)
		if err == errLeave {
			return w, false, nil
		}
		return w, needed || err == nil && d.confirm(), d.failed(err)
	}
	row, err := found.Content()
	if err != nil {
		return w, false, r.Diffs[0].failed(err)
	}
	var list *View
	missing := found.Absent()
	for _, d := range r.inOrder() {
		changed, err := d.edit(row, missing, formerOf(formers, d.View.Name))
		if err == errLeave {
			return w, false, nil // the row is not a list: no difference concerns it
		}
		if err != nil {
			return w, false, d.failed(err)
		}
		missing = missing && !changed
		needed = needed || changed || d.confirm()
		if d.View.Shape.Kind == types.Members {
			list = d.View
		}
	}
	if !needed {
		return w, false, nil
	}
	if list != nil {
		empty, err := isEmptyList(row, list.Shape.List)
		if err != nil {
			return w, false, r.Diffs[0].failed(err)
		}
		if empty {
			return txn.Delete(r.Key, found.ETag), !found.Absent(), nil
		}
	}
	if w, err = txn.OverWith(r.Key, found, row); err != nil {
		err = r.Diffs[0].failed(err)
	}
	return w, true, err
}

// inOrder returns the differences in an order in which each can be carried out: what one
// primary releases is free before another takes it, and a row is created before a merge
// that needs it to exist.
func (r *LocalRow) inOrder() []*Diff {
	all := make([]*Diff, len(r.Diffs))
	for i := range r.Diffs {
		all[i] = &r.Diffs[i]
	}
	step := func(d *Diff) int {
		switch {
		case d.New == nil:
			return 0
		case len(d.New.Merge.Set) == 0 && !d.New.Merge.Existing:
			return 1
		case len(d.New.Merge.Set) == 0:
			return 2
		case !d.New.Merge.Existing:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(all, func(a, b *Diff) int { return cmp.Compare(step(a), step(b)) })
	return all
}

// confirm reports whether the row is written even if its content is already right. That
// is so if the old version did not imply it: the row is then a leftover, or of a version
// of which the operation does not know, and another process may be about to remove it. The
// write makes that removal conflict with the transaction. A sum has nothing to confirm: an
// entity that is added changes it, or adds 0.
func (d *Diff) confirm() bool {
	return d.New != nil && d.stored() == nil && !d.Repair && (d.View.Shape.Kind != types.Merges || len(d.New.Merge.Set) > 0)
}

// edit makes row what d implies and reports whether that changed anything. absent means
// that the row does not exist.
func (d *Diff) edit(row edm.Content, absent bool, former *keys.Key) (bool, error) {
	if d.View.Shape.Kind == types.Members {
		return editList(row, d.View, d.Key, d.Primary, d.New != nil)
	}
	var before, after map[string]any
	var want *types.MergeSpec
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
	set, err := editSet(row, d.View, d.Primary, want, former)
	if err != nil {
		return false, err
	}
	counted, err := editCounters(row, before, after)
	return set || counted, err
}

// failed returns err as the error of d. It names the view, unless err names it already.
func (d *Diff) failed(err error) error {
	var other *OwnedByOther
	if err == nil {
		return nil
	}
	if !errors.As(err, &other) {
		err = &types.ViewError{View: d.View.Name, Err: err}
	}
	return &DiffError{d.Primary, err}
}
