package reindex

import (
	"cmp"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// loose are the sketches of the copies that a program without the Store may have stored, so that they
// do not state their primaries. Both are nil as long as there are none.
//
// A row that does not state its primary cannot be subtracted from what primaries imply, as that names
// them. So the first pass adds what is implied by primaries that do not list the view twice: with the
// primary and without it. The rows are subtracted from the latter. What is left there, and in the
// Sketch of the run, which has everything else, are the rows that differ, and Implied names the
// primaries of these. If it contains too many others to be decoded, one more pass reads only what
// concerns the rows that differ.
type loose struct {
	Implied sketch `json:",omitempty"` // with the primaries
	Rows    sketch `json:",omitempty"` // without them, and less what is stored
}

// valid reports whether the sketches have that size, or do not exist.
func (l *loose) valid(size int) bool {
	return len(l.Implied) == len(l.Rows) && (l.Rows == nil || len(l.Rows) == size)
}

func (l *loose) merge(o *loose) {
	if o.Rows == nil {
		return
	}
	for _, s := range [][2]*sketch{{&l.Implied, &o.Implied}, {&l.Rows, &o.Rows}} {
		if *s[0] == nil {
			*s[0] = make(sketch, len(*s[1]))
		}
		s[0].merge(*s[1])
	}
}

// addLoose adds a copy that is implied, or subtracts one that is stored without its primary.
func (r *run) addLoose(p *view.Part, sign int64) {
	l := &r.Loose
	if l.Rows == nil {
		l.Implied, l.Rows = newSketch(r.Differences), newSketch(r.Differences)
	}
	if sign > 0 {
		l.Implied.add(p.Bytes(), sign)
	}
	row := *p
	row.Primary = keys.Key{}
	l.Rows.add(row.Bytes(), sign)
}

// differences empties the sketches of a pass and returns what differs. complete is false if that is
// too much, or if another pass is to find the primaries of the Rows, which it then sets.
func (s *state) differences() (all []difference, complete bool, err error) {
	l, sum := s.Loose, s.Sketch
	s.Sketch, s.Loose = newSketch(s.Differences), loose{}
	if l.Rows == nil {
		all, complete = sum.decode()
		return all, complete, nil
	}
	l.Implied.merge(sum)
	some, knowsMarked := sum.decode()
	all, complete = l.Implied.decode()
	rest, knowsRows := l.Rows.decode()
	if !knowsMarked || !knowsRows {
		return all, complete, nil
	}
	rest = slices.DeleteFunc(rest, func(d difference) bool { return d.sign < 0 }) // rows of other programs, if some does not have them
	differ, left := map[patterns.RowRef]bool{}, map[string]bool{}
	for _, d := range slices.Concat(some, rest) {
		p, err := view.ParsePart(d.element)
		if err != nil {
			return nil, false, err
		}
		differ[refOf(&p)], left[string(d.element)] = true, true
	}
	switch {
	case complete:
		all, err = ofRows(all, differ, left)
		return all, true, err
	case len(rest) == 0:
		return some, true, nil
	}
	s.Rows = slices.SortedFunc(maps.Keys(differ), func(a, b patterns.RowRef) int {
		return cmp.Or(cmp.Compare(a.View, b.View), a.Key().Compare(b.Key()))
	})
	return nil, false, nil
}

// ofRows returns those of all that concern the rows that differ. left are the elements that were left of these. An element that is there
// without its primary is certain to differ only if no other primary implies the row.
func ofRows(all []difference, differ map[patterns.RowRef]bool, left map[string]bool) (some []difference, err error) {
	primaries := map[patterns.RowRef]int{}
	var parts []view.Part
	for _, d := range all {
		p, err := view.ParsePart(d.element)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
		primaries[refOf(&p)]++
	}
	for i, p := range parts {
		ref := refOf(&p)
		if !differ[ref] {
			continue
		}
		d := all[i]
		p.Primary = keys.Key{}
		d.maybe = !left[string(d.element)] && (primaries[ref] > 1 || !left[string(p.Bytes())])
		some = append(some, d)
	}
	return some, nil
}
