package patterns

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// reservedRow begins the row keys that the library keeps for itself.
const reservedRow = "~azp"

// lens is a view as the Store uses it.
type lens struct {
	name   string
	shape  Shape
	target Target // of all its rows; nil for the primary's own table
}

// foreign reports whether the rows stand outside the primary's table.
func (l *lens) foreign() bool { return l.target != nil }

func (l *lens) targetID() string {
	if l.target == nil {
		return ""
	}
	return l.target.ID()
}

// viewSet derives rows. It does no I/O.
type viewSet[T any] struct {
	lenses []*lens
	rows   []func(*T) ([]DerivedRow, error) // of the lenses
	codec  *edm.Codec
	fields map[string]bool // that a copy may name; nil where any
}

// derived is one row that a primary implies, checked and encoded.
type derived struct {
	lens *lens
	row  DerivedRow
	body []byte // of a copy
}

func (d *derived) key() keys.Key { return d.row.key }

// local reports whether the row changes in the primary's transaction.
func (d *derived) local(primary keys.Key) bool {
	return !d.lens.foreign() && d.row.key.Partition == primary.Partition
}

// same reports whether two versions of a row, at the same place, say the same.
func (d *derived) same(o *derived) bool {
	return bytes.Equal(d.body, o.body) && edm.Properties(d.row.merge.Set).Equal(o.row.merge.Set) &&
		edm.Properties(d.row.merge.Add).Equal(o.row.merge.Add)
}

// derive gives every row that v, at key, implies, ordered by view and key. nil
// implies none.
func (s *viewSet[T]) derive(v *T, key keys.Key) ([]derived, error) {
	if v == nil {
		return nil, nil
	}
	var all []derived
	shown := new(T)
	for i, l := range s.lenses {
		rows, err := s.ask(i, v, shown)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			d := derived{lens: l, row: row}
			if err := s.check(&d, key); err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	if err := apart(all); err != nil {
		return nil, err
	}
	for i := range all {
		if err := s.encode(&all[i], v, key); err != nil {
			return nil, &ViewError{all[i].lens.name, err}
		}
	}
	return all, nil
}

// ask calls view i twice and compares. It shows the view a copy, in shown, so that one
// that sets a field, to fold a value for its key, leaves the entity as it is.
func (s *viewSet[T]) ask(i int, v, shown *T) ([]DerivedRow, error) {
	name := s.lenses[i].name
	*shown = *v
	first, err := callRows(name, s.rows[i], shown)
	if err != nil {
		return nil, err
	}
	*shown = *v
	again, err := callRows(name, s.rows[i], shown)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(first, again, equalRow) {
		return nil, badView(name, "two calls with the same value gave different rows")
	}
	return first, nil
}

func callRows[T any](name string, rows func(*T) ([]DerivedRow, error), v *T) (out []DerivedRow, err error) {
	defer func() {
		if p := recover(); p != nil {
			// The text of the panic may hold values.
			out, err = nil, badView(name, "panic of type %T", p)
		}
	}()
	if out, err = rows(v); err != nil {
		return nil, &ViewError{name, err}
	}
	out = slices.Clone(out)
	slices.SortFunc(out, func(a, b DerivedRow) int { return compareKeys(a.key, b.key) })
	return out, nil
}

func compareKeys(a, b keys.Key) int {
	if c := keys.Compare(a.Partition, b.Partition); c != 0 {
		return c
	}
	return keys.Compare(a.Row, b.Row)
}

func equalRow(a, b DerivedRow) bool {
	return a.key == b.key && a.kind == b.kind && a.copy.Unique == b.copy.Unique && a.merge.Existing == b.merge.Existing &&
		(a.copy.Only == nil) == (b.copy.Only == nil) && slices.Equal(a.copy.Only, b.copy.Only) &&
		edm.Properties(a.merge.Set).Equal(b.merge.Set) && edm.Properties(a.merge.Add).Equal(b.merge.Add)
}

// check refuses a row that the view must not ask for.
func (s *viewSet[T]) check(d *derived, primary keys.Key) error {
	name := d.lens.name
	if d.row.kind != d.lens.shape.Kind {
		return badView(name, "a %v where the view's shape says %v", d.row.kind, d.lens.shape.Kind)
	}
	if err := d.row.key.Validate(); err != nil {
		return badView(name, "%w", err)
	}
	if strings.HasPrefix(d.row.key.Row, reservedRow) {
		return badView(name, "a row key begins with %q", reservedRow)
	}
	if !d.lens.foreign() && d.row.key == primary {
		return badView(name, "a row has the primary's own key")
	}
	for _, field := range d.row.copy.Only {
		if s.fields != nil && !s.fields[field] {
			return badView(name, "%w", &PropertyError{Property: field, Want: "a property of the type", Got: "an unknown name"})
		}
	}
	return d.row.merge.check(name)
}

func (m *Merged) check(view string) error {
	for name, v := range m.Set {
		if strings.HasPrefix(name, "azp_") {
			return badView(view, "%w", &PropertyError{Property: name, Want: "another name", Got: "names that begin with azp_ are reserved"})
		}
		if _, both := m.Add[name]; both {
			return badView(view, "property %s is set and counted", name)
		}
		if !isValue(v) {
			return badView(view, "%w", &PropertyError{Property: name, Want: "a value of one of the listed types", Got: fmt.Sprintf("%T", v)})
		}
	}
	for name, v := range m.Add {
		if _, ok := amount(v); !ok || strings.HasPrefix(name, "azp_") {
			return badView(view, "%w", &PropertyError{Property: name, Want: "an int32 or int64, no reserved name", Got: fmt.Sprintf("%T", v)})
		}
	}
	return nil
}

// apart refuses two rows at one place. Only merges of different views share one,
// with different properties.
func apart(all []derived) error {
	type place struct {
		target string
		key    keys.Key
	}
	seen := make(map[place][]*derived, len(all))
	for i := range all {
		d := &all[i]
		p := place{d.lens.targetID(), d.row.key}
		for _, o := range seen[p] {
			if o.lens == d.lens {
				return badView(d.lens.name, "two rows have the same key")
			}
			if o.row.kind != Merges || d.row.kind != Merges {
				return badView(d.lens.name, "a row of view %q has the same key", o.lens.name)
			}
			for _, name := range d.row.merge.names() {
				if o.row.merge.has(name) {
					return badView(d.lens.name, "view %q merges property %s into the same row", o.lens.name, name)
				}
			}
		}
		seen[p] = append(seen[p], d)
	}
	return nil
}

// encode makes the body of a copy.
func (s *viewSet[T]) encode(d *derived, v *T, primary keys.Key) (err error) {
	if d.row.kind != Copies {
		return nil
	}
	rest := ownerRest(primary, d.lens.name)
	e := edm.Envelope{PartitionKey: d.row.key.Partition, RowKey: d.row.key.Row, Unknown: &rest, Only: d.row.copy.Only}
	if d.row.copy.Only == nil || !s.codec.Open() {
		d.body, err = s.codec.Append(nil, v, e)
		return err
	}
	// A bag is written whole; the names asked for are picked from the outcome.
	e.Unknown, e.Only = nil, nil
	whole, err := s.codec.Append(nil, v, e)
	if err != nil {
		return err
	}
	all, _, err := edm.ReadProperties(whole)
	if err != nil {
		return err
	}
	picked := ownerProperties(primary, d.lens.name)
	for _, name := range d.row.copy.Only {
		if value, ok := all[name]; ok {
			picked[name] = value
		}
	}
	d.body, err = edm.AppendProperties(nil, picked, e)
	return err
}
