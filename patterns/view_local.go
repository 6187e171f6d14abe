package patterns

import (
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// localRow is a row in the primary's partition and all that a change of the primary
// means for it: one difference, or several merges of different views.
type localRow struct {
	key   keys.Key
	diffs []difference
}

// localRows groups the local differences by row, in order of keys. Rows that stay as
// they are do not appear.
func localRows(local []difference) []localRow {
	var all []localRow
	for _, d := range local {
		if d.still() {
			continue
		}
		i := slices.IndexFunc(all, func(p localRow) bool { return p.key == d.key })
		if i < 0 {
			i = len(all)
			all = append(all, localRow{key: d.key})
		}
		all[i].diffs = append(all[i].diffs, d)
	}
	slices.SortFunc(all, func(a, b localRow) int { return compareKeys(a.key, b.key) })
	return all
}

// blind reports whether the row can be written without having been read: it is a
// copy, and what stands there is known from the primary's own version.
func (p *localRow) blind() bool {
	d := &p.diffs[0]
	return d.lens.shape.Kind == Copies && (d.old == nil || d.kept)
}

// blindWrite is the write of a copy that was not read. It fails, and with it the
// transaction, if the row is not what the primary's version implies.
func (p *localRow) blindWrite() wire.Write {
	d := &p.diffs[0]
	switch {
	case d.old == nil:
		return over(p.key, standing{}, d.new.body)
	case d.new == nil:
		return away(p.key, "*")
	}
	return over(p.key, standing{etag: "*"}, d.new.body)
}

// write is the write, conditional on s, after which the row is what the primary's
// new version implies; act is false if it is that already. free is an owner whose
// row may be taken.
func (p *localRow) write(primary keys.Key, s standing, free *keys.Key) (w wire.Write, act bool, err error) {
	if d := &p.diffs[0]; d.lens.shape.Kind == Copies {
		c := copyClaim{key: p.key, primary: primary, view: d.lens.name, over: free}
		if d.new != nil {
			c.body = d.new.body
		}
		w, act, err = c.write(s)
		return w, act || err == nil && d.leftover(), d.fail(err)
	}
	row, err := s.content()
	if err != nil {
		return w, false, err
	}
	var list *lens
	for i := range p.diffs {
		d := &p.diffs[i]
		changed, err := d.edit(row, primary, s.absent(), free)
		if err != nil {
			return w, false, d.fail(err)
		}
		act = act || changed || d.leftover()
		if d.lens.shape.Kind == Members {
			list = d.lens
		}
	}
	if !act {
		return w, false, nil
	}
	if list != nil {
		if empty, err := list.emptyList(row); err != nil || empty {
			return away(p.key, s.etag), !s.absent(), err
		}
	}
	w, err = row.over(p.key, s)
	return w, true, err
}

// leftover reports that what stands there, if it is what the new version implies, is
// so by chance. It is written all the same, so that nobody who is about to clear it
// away can do so behind the transaction's back.
func (d *difference) leftover() bool {
	return d.new != nil && d.was() == nil && !d.mend && d.lens.shape.Kind != Merges
}

// edit makes row what d implies and reports whether that changed anything.
func (d *difference) edit(row content, primary keys.Key, absent bool, free *keys.Key) (bool, error) {
	if d.lens.shape.Kind == Members {
		return d.lens.editList(row, primary, d.new != nil)
	}
	var was, now map[string]any
	var want *Merged
	if old := d.was(); old != nil {
		was = old.row.merge.Add
	}
	if d.new != nil {
		want = &d.new.row.merge
		now = want.Add
	}
	if absent {
		if want == nil {
			return false, nil
		}
		if want.Existing {
			return false, ErrNotFound
		}
	}
	set, err := d.lens.editSet(row, primary, want, free)
	if err != nil {
		return false, err
	}
	sums, err := addUp(row, was, now)
	return set || sums, err
}

// fail names the view of an error.
func (d *difference) fail(err error) error {
	var taken *takenError
	if err == nil {
		return nil
	}
	if errors.As(err, &taken) {
		taken.view = d.lens.name
		return taken
	}
	return &ViewError{d.lens.name, err}
}
