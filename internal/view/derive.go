package view

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Derived is a row that a primary implies, checked and encoded.
type Derived struct {
	View *View
	types.DerivedRow
	Body []byte // of a copy
}

// local reports whether the row changes in the primary's transaction.
func (d *Derived) local(primary keys.Key) bool {
	return !d.View.Foreign() && d.Key.Partition == primary.Partition
}

// Holds reports whether d keeps another primary from having a row of v at the same key. A
// merge keeps it only from setting properties for the same view.
func (d *Derived) Holds(v *View) bool {
	return d.Kind != types.Merges || d.View == v && len(d.Merge.Set) > 0
}

// sameContent reports whether d and o, two versions of one row, have the same content.
func (d *Derived) sameContent(o *Derived) bool {
	return bytes.Equal(d.Body, o.Body) && edm.Properties(d.Merge.Set).Equal(o.Merge.Set) &&
		edm.Properties(d.Merge.Add).Equal(o.Merge.Add)
}

// Derive returns every row that entity, which is stored at key, implies, ordered by
// view and key, without lookup rows, which [Set.Lookups] returns. If entity is nil there are none. It makes no request.
//
// unknown was read with the entity, or is what it is stored with; nil for neither. Copies store
// properties as the primary does, and full copies have all that it has.
//
// Derive fails with an [*types.ViewError] if a view fails, panics or breaks its contract.
func (s *Set) Derive(entity any, key keys.Key, unknown *edm.Unknown) ([]Derived, error) {
	if entity == nil {
		return nil, nil
	}
	all := make([]Derived, 0, len(s.Views))
	twice := s.asksTwice()
	var shown any
	for _, v := range s.Views {
		if v.Shape.Kind == types.Lookups {
			continue
		}
		var rows []types.DerivedRow
		var err error
		if shown, rows, err = s.rowsOf(v, entity, shown, twice); err != nil {
			return nil, err
		}
		before := len(all)
		for _, row := range rows {
			d := Derived{View: v, DerivedRow: row}
			if err := s.check(&d, key); err != nil {
				return nil, err
			}
			all = append(all, d)
		}
		if err := checkCollisions(all[:before], all[before:]); err != nil {
			return nil, err
		}
	}
	if err := s.encodeCopies(all, entity, key, unknown); err != nil {
		return nil, err
	}
	return all, nil
}

// encodeCopies encodes the copies among the rows of the entity at key.
func (s *Set) encodeCopies(all []Derived, entity any, key keys.Key, unknown *edm.Unknown) error {
	var stored [2]edm.Unknown // with which slim and full copies are encoded
	var known [2]bool
	for i := range all {
		d := &all[i]
		if d.Kind != types.Copies {
			continue
		}
		of, form := entity, 0
		if d.Copy.Entity != nil {
			of = d.Copy.Entity
		}
		if d.Copy.Only == nil {
			form = 1
		}
		if !known[form] {
			stored[form], known[form] = copied(unknown, form == 1), true
		}
		with := stored[form]
		if d.Copy.Entity != nil {
			with = s.codec.InCopy(&with, entity, of)
		}
		marked := d.View.mark(&with, key)
		var err error
		if d.Body, err = encodeCopy(s.codec, of, d.Key, d.Copy.Only, &marked); err != nil {
			return &types.ViewError{View: d.View.Name, Err: err}
		}
	}
	return nil
}

// asksTwice reports whether this call of Derive calls each view twice: the first calls do, and
// then one of many, because a view that is not a pure function is a mistake of the program,
// which soon shows.
func (s *Set) asksTwice() bool {
	n := s.derived.Add(1)
	return n <= 16 || n%64 == 0
}

// rowsOf calls v. With twice it calls v again and fails if the results differ. It passes a
// copy of the entity, so that a view that assigns to a field, for example to fold a value for
// its key, does not change the entity. The copy is made in shown, which rowsOf returns for
// the next view, unless a row contains it.
func (s *Set) rowsOf(v *View, entity, shown any, twice bool) (any, []types.DerivedRow, error) {
	shown = s.copyEntity(shown, entity)
	first, err := v.call(shown)
	if slices.ContainsFunc(first, func(r types.DerivedRow) bool { return r.Copy.Entity == shown }) {
		shown = nil
	}
	if err != nil || !twice {
		return shown, first, err
	}
	shown = s.copyEntity(shown, entity)
	second, err := v.call(shown)
	if err == nil && !slices.EqualFunc(first, second, s.equalRow) {
		err = BadView(v.Name, "two calls with the same value returned different rows")
	}
	return shown, first, err
}

// call calls Rows and sorts its result.
func (v *View) call(entity any) (rows []types.DerivedRow, err error) {
	defer func() {
		if p := recover(); p != nil {
			// The text of the panic may contain values.
			rows, err = nil, BadView(v.Name, "panic of type %T", p)
		}
	}()
	if rows, err = v.Rows(entity); err != nil {
		return nil, &types.ViewError{View: v.Name, Err: azerr.Seal(err)}
	}
	for i := range rows {
		if of := rows[i].Copy.Entity; of != nil && (reflect.TypeOf(of) != reflect.TypeOf(entity) || reflect.ValueOf(of).IsNil()) {
			return nil, BadView(v.Name, "CopySpec.Entity is no %T", entity)
		}
	}
	slices.SortFunc(rows, func(a, b types.DerivedRow) int { return compareKeys(a.Key, b.Key) })
	return rows, nil
}

func compareKeys(a, b keys.Key) int {
	if c := keys.Compare(a.Partition, b.Partition); c != 0 {
		return c
	}
	return keys.Compare(a.Row, b.Row)
}

func (s *Set) equalRow(a, b types.DerivedRow) bool {
	if (a.Copy.Entity == nil) != (b.Copy.Entity == nil) {
		return false
	}
	if a.Copy.Entity != nil {
		x, errX := encodeCopy(s.codec.Comparing(), a.Copy.Entity, a.Key, a.Copy.Only, nil)
		y, errY := encodeCopy(s.codec.Comparing(), b.Copy.Entity, b.Key, b.Copy.Only, nil)
		if errX == nil && errY == nil && !bytes.Equal(x, y) { // Derive returns an error
			return false
		}
	}
	return a.Key == b.Key && a.Kind == b.Kind && a.Copy.Unique == b.Copy.Unique && a.Merge.Existing == b.Merge.Existing &&
		(a.Copy.Only == nil) == (b.Copy.Only == nil) && slices.Equal(a.Copy.Only, b.Copy.Only) &&
		edm.Properties(a.Merge.Set).Equal(b.Merge.Set) && edm.Properties(a.Merge.Add).Equal(b.Merge.Add)
}

// check fails if d is a row that its view must not return.
func (s *Set) check(d *Derived, primary keys.Key) error {
	name := d.View.Name
	if d.Kind != d.View.Shape.Kind {
		return BadView(name, "a row is a %v, but the kind of the view's shape is %v", d.Kind, d.View.Shape.Kind)
	}
	if err := d.Key.Validate(); err != nil {
		return BadView(name, "%w", err)
	}
	if strings.HasPrefix(d.Key.Row, ReservedRow) {
		return BadView(name, "a row key begins with %q", ReservedRow)
	}
	if !d.View.Foreign() && d.Key == primary {
		return BadView(name, "a row has the primary's own key. If the row at this key is not an entity, but a row of the view "+
			"without azp_view, exclude such rows by StoreOptions.Primaries, or recognize them by Shape.Owner")
	}
	for _, field := range d.Copy.Only {
		if s.fields != nil && !s.fields[field] {
			return BadView(name, "%w", &types.PropertyError{Property: field, Want: "a property of the type", Got: "an unknown name"})
		}
	}
	return checkMerge(&d.Merge, name)
}

func checkMerge(m *types.MergeSpec, view string) error {
	for name, v := range m.Set {
		if edm.IsReserved(name) {
			return BadView(view, "%w", &types.PropertyError{Property: name, Want: "another name", Got: "names that begin with azp_ are reserved"})
		}
		if _, both := m.Add[name]; both {
			return BadView(view, "property %s is set and counted", name)
		}
		if !isValue(v) {
			return BadView(view, "%w", &types.PropertyError{Property: name, Want: "a value of one of the listed types", Got: fmt.Sprintf("%T", v)})
		}
	}
	for name, v := range m.Add {
		if _, ok := number(v); !ok || edm.IsReserved(name) {
			return BadView(view, "%w", &types.PropertyError{Property: name, Want: "an int32 or int64, no reserved name", Got: fmt.Sprintf("%T", v)})
		}
	}
	return nil
}

// checkCollisions fails if a row of one view, in order, has the same key in the same target
// as another one, or as one of earlier views, which are ordered by view and key. Only merges
// of different views may, provided that their properties differ.
func checkCollisions(earlier, rows []Derived) error {
	for i := 1; i < len(rows); i++ {
		if rows[i].Key == rows[i-1].Key {
			return BadView(rows[i].View.Name, "two rows have the same key")
		}
	}
	for len(earlier) > 0 && len(rows) > 0 {
		v := earlier[0].View
		n := slices.IndexFunc(earlier, func(o Derived) bool { return o.View != v })
		if n < 0 {
			n = len(earlier)
		}
		if v.TargetID() == rows[0].View.TargetID() {
			for i := range rows {
				if at, found := slices.BinarySearchFunc(earlier[:n], rows[i].Key, compareKey); found {
					if err := checkMerges(&earlier[at], &rows[i]); err != nil {
						return err
					}
				}
			}
		}
		earlier = earlier[n:]
	}
	return nil
}

func compareKey(d Derived, key keys.Key) int { return compareKeys(d.Key, key) }

// checkMerges fails unless o and d, rows of two views with the same key, are merges of
// different properties.
func checkMerges(o, d *Derived) error {
	if o.Kind != types.Merges || d.Kind != types.Merges {
		return BadView(d.View.Name, "a row of view %q has the same key", o.View.Name)
	}
	for _, name := range namesOf(d.Merge.Set, d.Merge.Add) {
		if merges(&o.Merge, name) {
			return BadView(d.View.Name, "view %q merges property %s into the same row", o.View.Name, name)
		}
	}
	return nil
}

func merges(m *types.MergeSpec, name string) bool {
	_, set := m.Set[name]
	_, add := m.Add[name]
	return set || add
}
