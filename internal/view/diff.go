package view

import (
	"cmp"
	"slices"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Diff is what a change of a primary means for one row.
type Diff struct {
	Primary keys.Key // of New if there is one, otherwise of Old
	View    *View    // likewise
	Key     keys.Key
	Old     *Derived // nil: the old version did not imply the row
	New     *Derived // nil: the new version does not imply the row

	// Tracked means that the program that stored the old version had the view. Then
	// the row that Old describes is stored, and belongs to the primary.
	Tracked bool

	// Unlisted means that the old version implied the row as New does, although Old is nil: the
	// program that stored it did not have the view.
	Unlisted bool

	// Repair means that the row is checked even if it need not change.
	Repair bool
}

// stored is what the row is known to contain because of the old version, nil if nothing
// is known.
func (d *Diff) stored() *Derived {
	if !d.Tracked {
		return nil
	}
	return d.Old
}

// unchanged reports whether nothing needs to be done.
func (d *Diff) unchanged() bool {
	return !d.Repair && d.Tracked && d.Old != nil && d.New != nil && d.Old.sameContent(d.New)
}

// Unique reports whether the row must be reserved before the primary's transaction, if
// it is remote.
func (d *Diff) Unique() bool {
	return d.New != nil && d.New.Copy.Unique && d.stored() == nil
}

// Claim is what the primary wants of the row of a copy.
func (d *Diff) Claim() CopyClaim {
	c := CopyClaim{View: d.View, Key: d.Key, Primary: d.Primary}
	if of := cmp.Or(d.New, d.Old); of != nil {
		c.Only = of.Copy.Only
	}
	if d.New != nil {
		c.Body = d.New.Body
		c.New = d.Old == nil && !d.Repair && !d.Unlisted && (d.New.Copy.Unique || d.New.local(d.Primary))
	}
	if d.Old != nil {
		c.Old = d.Old.Body
	}
	return c
}

// Adopts reports whether the row, if it is remote, must get its marker before the
// primary's transaction. The program that stored the old version did not have the view, so
// the row may be one without a marker, which is recognized only while the old version is
// known. That holds also if this transaction leaves the row as it is: afterwards the primary
// lists the view, and the next transaction takes the row for a marked one.
func (d *Diff) Adopts() bool {
	return !d.Tracked && d.Old != nil && d.View.Shape.Kind == types.Copies && !d.View.Shape.Plain && !d.Unique()
}

// Ref identifies the row as a row of v: a copy may change from the view of Old to that
// of New.
func (d *Diff) Ref(v *View) types.RowRef {
	return types.RowRef{View: v.Name, Partition: d.Key.Partition, Row: d.Key.Row}
}

// Differences compares the rows of two versions of the primary at key. local are the
// differences of the rows that change in the primary's transaction, the unchanged ones
// included: [LocalRows] leaves those out. remote are the differences of all other rows,
// without those that are unchanged.
//
// tracked reports whether the program that stored the old version had a view. With repair
// no row counts as unchanged.
func Differences(primary keys.Key, old, new []Derived, tracked func(view string) bool, repair bool) (local, remote []Diff) {
	all := make([]Diff, 0, len(old)+len(new))
	for i := range old {
		o := &old[i]
		all = append(all, Diff{Primary: primary, View: o.View, Key: o.Key, Old: o, Tracked: tracked(o.View.Name), Repair: repair})
	}
	for i := range new {
		n := &new[i]
		if j := slices.IndexFunc(all, func(d Diff) bool { return d.continuedBy(n) }); j >= 0 {
			all[j].View, all[j].New = n.View, n
			continue
		}
		all = append(all, Diff{Primary: primary, View: n.View, Key: n.Key, New: n, Tracked: tracked(n.View.Name), Repair: repair})
	}
	isLocal := func(d Diff) bool { return cmp.Or(d.New, d.Old).local(primary) }
	for i := range all {
		if !isLocal(all[i]) && !all[i].unchanged() {
			remote = append(remote, all[i])
		}
	}
	return slices.DeleteFunc(all, func(d Diff) bool { return !isLocal(d) }), remote
}

// continuedBy reports whether n is the new version of the row: the same row of the same
// view, or a copy that one view no longer implies and another view does.
func (d *Diff) continuedBy(n *Derived) bool {
	if d.New != nil || d.Key != n.Key || d.View.TargetID() != n.View.TargetID() {
		return false
	}
	return d.View == n.View || d.View.Shape.Kind == types.Copies && n.View.Shape.Kind == types.Copies
}
