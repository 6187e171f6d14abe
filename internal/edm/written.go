package edm

import (
	"bytes"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/sealed"
)

// Notes describe one version of a row. A write makes another one: After returns what describes it.
// The caller may also have an item of the version that was read, and assign to it the ETag of the
// version that was written. So the notes of a row with texts of its own remember the version that
// was written last, and At finds it. Notes that rows share do not. At reduces them to what is true
// of every version that was written with them.

// version is what a write has stored.
type version struct {
	etag  string
	notes *notes
}

// After returns u as it describes the row after *entity was written with it. body is the row that
// was written. With merged the row keeps the properties that body lacks.
//
// A property that the row lacked, and that was written because it is not zero, is not missing any
// more: when it is zero again, a merge must write that. A text that was kept is now the one in body:
// what the program has removed from JSON must not return. changed reports whether the result differs from u.
func (c *Codec) After(entity any, u *Unknown, body []byte, merged bool) (after Unknown, changed bool) {
	n := u.notes
	if n == nil {
		return *u, false
	}
	v := reflect.ValueOf(entity).Elem()
	n = n.without(func(s storedType) bool {
		f := c.plan.fieldOf(s.name)
		if s.edm != absent || f == nil {
			return false
		}
		return !f.isZero(v)
	})
	if len(n.kept) > 0 {
		written := map[string][]byte{}
		addMembers(written, body[:len(body)-1]) // { is in place of the comma
		key := func(name string) (text string) {
			eachMember(written[name], func(m unknownProperty) { text, _ = m.text() })
			return text
		}
		c.openMembers(written, sealed.Place{Partition: key(partitionKeyName), Row: key(rowKeyName)})
		n = n.withTexts(written, merged)
	}
	return Unknown{raw: u.raw, notes: n}, n != u.notes
}

// AfterSplit is [Codec.After] for an entity that was written as s.
func (s *SplitEntity) AfterSplit(u *Unknown, merged bool) Unknown {
	n := u.notes
	isAbsent := func(t storedType) bool { return t.edm == absent }
	if n == nil || len(n.kept) == 0 && !slices.ContainsFunc(n.types, isAbsent) {
		return *u
	}
	written := map[string][]byte{}
	for i := range s.rows {
		addMembers(written, s.rows[i].members)
	}
	for name, pieces := range s.Splits { // the pieces of a text, and those of base64, make one together
		whole := bytes.Clone(written[name])
		for i := 1; i < pieces; i++ {
			eachMember(written[PieceName(name, i)], func(p unknownProperty) {
				whole = append(append(whole[:len(whole)-1], p.value...), '"')
			})
		}
		written[name] = whole
	}
	s.codec.openMembers(written, placeOf(s.spec.Place))
	n = n.without(func(t storedType) bool { _, ok := written[t.name]; return isAbsent(t) && ok })
	if len(n.kept) > 0 {
		n = n.withTexts(written, merged)
	}
	return Unknown{raw: u.raw, notes: n}
}

// addMembers adds the members of a row by the names of their properties.
func addMembers(members map[string][]byte, row []byte) {
	eachMember(row, func(p unknownProperty) { members[string(p.name)] = p.member })
}

// without returns n without the types for which drop returns true; n itself if there are none.
func (n *notes) without(drop func(storedType) bool) *notes {
	if !slices.ContainsFunc(n.types, drop) {
		return n
	}
	return &notes{types: slices.DeleteFunc(slices.Clone(n.types), drop), kept: n.kept, later: n.later}
}

// withTexts returns n with the texts that were written in place of those that it keeps. If the row
// was not merged, texts that were not written do not exist any more.
func (n *notes) withTexts(written map[string][]byte, merged bool) *notes {
	texts := []byte{}
	eachMember(n.kept, func(p unknownProperty) {
		if member, ok := written[string(p.name)]; ok {
			texts = append(append(texts, ','), member[1:]...)
		} else if merged {
			texts = append(texts, p.member...)
		}
	})
	if bytes.Equal(texts, n.kept) {
		return n
	}
	return &notes{types: n.types, kept: texts, later: n.later}
}

// HasTexts reports whether u has texts that a write may change.
func (u *Unknown) HasTexts() bool { return u.notes != nil && u.notes.later != nil }

// Stored makes the version with that ETag, which u describes, known to [Unknown.At] of what u comes
// from by [Codec.After]. It may be called concurrently.
func (u *Unknown) Stored(etag string) {
	if u.HasTexts() {
		u.notes.later.Store(&version{etag, u.notes})
	}
}

// At returns u as it describes the version with that ETag, which is another one than that which was
// read. If [Unknown.Stored] does not know it, the result still has the texts that were read, but does
// not say what the row lacks. changed reports whether it differs from u.
func (u *Unknown) At(etag string) (at Unknown, changed bool) {
	n := u.notes
	if n == nil {
		return *u, false
	}
	if n.later != nil {
		if v := n.later.Load(); v != nil && v.etag == etag {
			return Unknown{raw: u.raw, notes: v.notes}, v.notes != n
		}
	}
	n = n.without(func(s storedType) bool { return s.edm == absent })
	return Unknown{raw: u.raw, notes: n}, n != u.notes
}

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
		a, err1 := c.Comparing().Append(nil, entity, only)
		b, err2 := c.Comparing().Append(nil, of, only)
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
	without := u.Keep(func(name []byte) bool { return !drop(string(name)) })
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
