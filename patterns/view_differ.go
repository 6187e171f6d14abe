package patterns

import (
	"slices"

	"github.com/azpatterns/azpatterns/keys"
)

// difference is what a change of a primary means for one row of a view.
type difference struct {
	lens *lens
	key  keys.Key
	old  *derived // nil: the row was not implied
	new  *derived // nil: it is no longer implied

	// kept says that the old version was stored with this view in force: then what
	// old implies stands there, and belongs to the primary.
	kept bool

	mend bool // the row is looked after even if nothing has to change
}

// was is what the old version put there, nil for nothing.
func (d *difference) was() *derived {
	if !d.kept {
		return nil
	}
	return d.old
}

// still reports that nothing has to be done.
func (d *difference) still() bool {
	return !d.mend && d.kept && d.old != nil && d.new != nil && d.old.same(d.new)
}

// unique reports that the row must be reserved before the transaction.
func (d *difference) unique() bool {
	return d.new != nil && d.new.row.copy.Unique && d.was() == nil
}

// differ divides the differences between two versions of the primary at key into
// those that go into its transaction and those that follow through the outbox. kept
// says which views were in force when old was stored. Remote rows that stay as they
// are do not appear, unless everything is to be mended.
func differ(primary keys.Key, old, new []derived, kept func(view string) bool, mend bool) (local, remote []difference) {
	var all []difference
	for i := range old {
		all = append(all, difference{lens: old[i].lens, key: old[i].key(), old: &old[i], kept: kept(old[i].lens.name), mend: mend})
	}
	for i := range new {
		n := &new[i]
		if j := slices.IndexFunc(all, func(d difference) bool { return d.becomes(n) }); j >= 0 {
			all[j].lens, all[j].new = n.lens, n
			continue
		}
		all = append(all, difference{lens: n.lens, key: n.key(), new: n, kept: kept(n.lens.name), mend: mend})
	}
	for _, d := range all {
		some := d.new
		if some == nil {
			some = d.old
		}
		switch {
		case some.local(primary):
			local = append(local, d)
		case !d.still():
			remote = append(remote, d)
		}
	}
	return local, remote
}

// becomes reports whether n is the new version of d's row: the same row of the same
// view, or a copy that one view gives up and another takes over.
func (d *difference) becomes(n *derived) bool {
	if d.new != nil || d.key != n.key() || d.lens.targetID() != n.lens.targetID() {
		return false
	}
	return d.lens == n.lens || d.lens.shape.Kind == Copies && n.lens.shape.Kind == Copies
}
