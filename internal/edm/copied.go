package edm

import (
	"bytes"
	"reflect"
	"sync/atomic"
)

// InCopy returns u, which was read with *entity, for a copy of the row that has the properties of *of, as a program has made it
// from *entity. Texts, and with them the members of JSON that the type lacks, stay only with values that are encoded as those of
// *entity: what the program has removed or replaced must not be in the copy. A time that it has cleared is missing, also if
// the row stores times as text.
func (c *Codec) InCopy(u *Unknown, entity, of any) Unknown {
	n := u.notes
	if n == nil {
		return *u
	}
	v, copied := reflect.ValueOf(entity).Elem(), reflect.ValueOf(of).Elem()
	n = n.without(func(s storedType) bool {
		f := c.plan.fieldOf(s.name)
		if f == nil || s.edm != absent && f.shape != shapeTime && f.shape != shapeEDMTime {
			return false
		}
		return f.isZero(copied) && !f.isZero(v)
	})
	var kept []byte
	eachMember(n.kept, func(p unknownProperty) {
		only := Envelope{Only: []string{string(p.name)}, Unknown: &Unknown{notes: &notes{types: n.types}}}
		a, err1 := c.Append(nil, entity, only)
		b, err2 := c.Append(nil, of, only)
		if err1 == nil && err2 == nil && bytes.Equal(a, b) {
			kept = append(kept, p.member...)
		}
	})
	return Unknown{raw: u.raw, notes: &notes{types: n.types, kept: kept}}
}

// isZero reports whether the field of entity has no value, or the zero value.
func (f *field) isZero(entity reflect.Value) bool {
	v, ok := f.get(entity)
	switch {
	case !ok:
		return true
	case f.shape == shapeTime || f.shape == shapeEDMTime:
		return f.timeOf(v).IsZero()
	}
	return v.IsZero() && !hasNegativeZero(v)
}

// Without returns u without the properties whose names drop returns true for, and without the texts that it keeps of them.
func (u *Unknown) Without(drop func(name string) bool) Unknown {
	without := u.Keep(func(name string) bool { return !drop(name) })
	if u.notes == nil || len(u.notes.kept) == 0 {
		return without
	}
	var kept []byte
	eachMember(u.notes.kept, func(p unknownProperty) {
		if !drop(string(p.name)) {
			kept = append(kept, p.member...)
		}
	})
	without.notes = &notes{types: u.notes.types, kept: kept, later: new(atomic.Pointer[version])}
	return without
}
