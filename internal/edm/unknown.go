package edm

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/types"
)

// Unknown are the properties of a row that its Go type has no fields for. They are kept as
// they were read, with their types and in the order of the body. The zero Unknown has no
// properties. It shares no memory with the body that it was read from. A reply without
// metadata has no types, so Unknown from such a reply must not be written back.
//
// Unknown also records how the row stores the properties that the type has fields for, if Append
// would write them differently: see [notes].
type Unknown struct {
	raw   []byte // members of a JSON object, each after a comma
	notes *notes // nil for none; shared, must not be changed
}

// IsZero reports whether u affects nothing that is written.
func (u *Unknown) IsZero() bool { return len(u.raw) == 0 && u.notes == nil }

// IsShared reports whether u has no texts: what it has is then common to many rows.
func (u *Unknown) IsShared() bool { return len(u.raw) == 0 && (u.notes == nil || u.notes.kept == nil) }

// Differs reports whether u is not known to be equal to other.
func (u *Unknown) Differs(other *Unknown) bool {
	return len(u.raw) > 0 || len(other.raw) > 0 || u.notes != other.notes
}

// OnlyTexts returns the texts that u keeps of properties that are not in u itself.
func (u *Unknown) OnlyTexts() Unknown {
	if u.notes == nil || u.notes.kept == nil {
		return Unknown{}
	}
	return Unknown{notes: &notes{kept: u.notes.kept}}
}

// TextsOf returns u with the texts that other keeps of the properties for which from returns true, and with its own of all
// others. Neither has types, see [Unknown.OnlyTexts].
func (u *Unknown) TextsOf(other *Unknown, from func(name string) bool) Unknown {
	var n notes
	for _, part := range []*Unknown{u, other} {
		if part.notes == nil {
			continue
		}
		eachMember(part.notes.kept, func(p unknownProperty) {
			if from(string(p.name)) == (part == other) {
				n.kept = append(n.kept, p.member...)
			}
		})
	}
	if n.kept == nil {
		return Unknown{raw: u.raw}
	}
	return Unknown{raw: u.raw, notes: &n}
}

type unknownProperty struct {
	name   []byte
	tok    token
	value  []byte // of a string without its quotes
	member []byte // with annotation and leading comma
}

// each calls yield for each property.
func (u *Unknown) each(yield func(unknownProperty)) { eachMember(u.raw, yield) }

// eachMember calls yield for each property of members, which were written by this package. It ends at a name that
// no row can have: a trial writes it without an escape.
func eachMember(members []byte, yield func(unknownProperty)) {
	s := scanner{data: members}
	var p unknownProperty
	for s.pos < len(s.data) {
		var name, value token
		from := s.pos
		s.pos++
		s.text(&name)
		s.pos++
		s.value(&value, 1)
		if s.err != nil {
			return
		}
		text := members[name.start:name.end]
		if base, ok := bytes.CutSuffix(text, []byte(annotationSuffix)); ok {
			edm := typeNamed(members[value.start:value.end])
			text = base
			s.pos++
			s.text(&name)
			s.pos++
			s.value(&value, 1)
			value.edm = edm
		}
		if s.err != nil {
			return
		}
		p.name, p.tok = text, value
		p.value = members[value.start:value.end]
		p.member = members[from:s.pos]
		yield(p)
	}
}

// unknown writes the properties of r, except those that the Go value has itself.
func (w *encoder) unknown(c *Codec, v reflect.Value, r *Unknown) error {
	own := c.plan.unknownIn(v)
	var err error
	r.each(func(p unknownProperty) {
		if _, ok := own[string(p.name)]; ok || err != nil {
			return
		}
		if _, ok := c.plan.index[string(p.name)]; ok {
			return
		}
		err = w.member(p)
	})
	return err
}

// size returns what the value counts against the size of an entity.
func (p *unknownProperty) size() (int, error) {
	text := p.value
	if p.tok.escaped {
		text, _ = unescape(nil, text)
	}
	edm := p.tok.wireType(p.value)
	switch edm {
	case String:
		units := utf16Length(text)
		if units > maxTextUnits {
			return 0, tooLarge(string(p.name), wantText, units)
		}
		return 4 + 2*units, nil
	case Binary:
		return 4 + len(bytes.TrimRight(text, "="))*3/4, nil
	}
	if edm == edmUnknown {
		return 4 + 2*len(p.value), nil
	}
	return fixedSize(edm), nil
}

// entityStart is the beginning of an entity with metadata, and so with types.
const entityStart = `{"odata.metadata":"x",`

// DecodeAs decodes the properties of u into *dst, as if the row had been read with the
// codec c. Properties that have no field are stored in unknown.
func (u *Unknown) DecodeAs(c *Codec, pk, rk string, dst any, unknown *Unknown) error {
	body := make([]byte, 0, len(entityStart)+len(u.raw)+len(pk)+len(rk)+64)
	e := encoder{dst: append(body, entityStart...)}
	if err := e.keys(pk, rk); err != nil {
		return err
	}
	body = append(e.dst, u.raw...)
	var m Meta
	return c.DecodeEntity(append(body, '}'), dst, &m, unknown)
}

// find returns the property of that name in members, ok false if there is none.
func find(members []byte, name string) (found unknownProperty, ok bool) {
	eachMember(members, func(p unknownProperty) {
		if !ok && string(p.name) == name {
			found, ok = p, true
		}
	})
	return found, ok
}

// Value returns one property of u as the Go value of its type.
func (u *Unknown) Value(name string) (value any, ok bool, err error) {
	p, ok := find(u.raw, name)
	if !ok {
		return nil, false, nil
	}
	if text, isText := p.text(); isText {
		return text, true, nil
	}
	one := Unknown{raw: p.member}
	var all map[string]any
	err = one.DecodeAs(contentCodec, "", "", &all, nil)
	if value, ok = all[name]; ok && err == nil && value == nil {
		err = errors.New("property without a value")
	}
	return value, ok, err
}

// Text returns the value of a text property of u.
func (u *Unknown) Text(name string) (text string, ok bool) {
	p, _ := find(u.raw, name)
	return p.text()
}

// Has reports whether u has a property of that name.
func (u *Unknown) Has(name string) bool {
	_, ok := find(u.raw, name)
	return ok
}

// Names returns the names of the properties of u in the order of the row, without reserved ones.
func (u *Unknown) Names() (names []string) {
	u.each(func(p unknownProperty) {
		if name := string(p.name); !IsReserved(name) {
			names = append(names, name)
		}
	})
	return names
}

// text returns the value of a text property.
func (p *unknownProperty) text() (text string, ok bool) {
	if p.tok.kind != tokString || p.tok.wireType(p.value) != String {
		return "", false
	}
	if !p.tok.escaped {
		return string(p.value), true
	}
	value, ok := unescape(nil, p.value)
	return string(value), ok
}

// Text is a text property.
type Text struct{ Name, Value string }

// Check returns a [*types.PropertyError] if no row can have t.
func (t Text) Check() error {
	reason := checkName(t.Name)
	if slices.Contains(systemNames[:], t.Name) {
		reason = "every row has it"
	}
	if reason != "" {
		return &types.PropertyError{Property: t.Name, Want: "a name that can be stored", Got: "this one: " + reason}
	}
	if !utf8.ValidString(t.Value) {
		return &types.PropertyError{Property: t.Name, Want: "UTF-8", Got: "other bytes"}
	}
	return nil
}

// WithTexts returns a copy of u with text properties, which replace those of the same names.
// The names must differ.
func (u *Unknown) WithTexts(texts ...Text) Unknown {
	size := len(u.raw)
	for _, t := range texts {
		size += len(`,"":""`) + len(t.Name) + len(t.Value)
	}
	e := encoder{dst: make([]byte, 0, size)}
	u.each(func(p unknownProperty) {
		if !slices.ContainsFunc(texts, func(t Text) bool { return t.Name == string(p.name) }) {
			e.dst = append(e.dst, p.member...)
		}
	})
	for _, t := range texts {
		e.dst = append(e.dst, ',')
		e.quote(t.Name)
		e.dst = append(e.dst, ':')
		e.quote(t.Value)
	}
	return Unknown{raw: e.dst, notes: u.notes}
}

// assignUnknown stores the properties that have no field in the map of v, or in unknown.
func (d *decoder) assignUnknown(v reflect.Value, unknown *Unknown, m *Meta) error {
	p := d.plan
	properties := d.unknownMap(v, m)
	if unknown != nil {
		// Mostly there is nothing, and the collector watches stores of pointers.
		if notes := d.noteRow(v); notes != nil || !unknown.IsZero() {
			*unknown = Unknown{notes: notes}
		}
	}
	for _, slot := range d.unknown {
		t := &d.toks[slot]
		name := d.names[int(slot)-p.slots]
		if t.kind == tokNull {
			continue
		}
		if properties != nil && (p.withReserved || !IsReserved(name)) {
			got, err := d.goValue(name, t, p.sdkTypes)
			if err != nil {
				return err
			}
			properties[name] = got
		} else if unknown != nil {
			d.appendUnknown(unknown, name, slot, t)
		}
	}
	return nil
}

// appendUnknown appends one member to unknown.
func (d *decoder) appendUnknown(unknown *Unknown, name string, slot int32, t *token) {
	if unknown.raw == nil {
		unknown.raw = d.room(d.unknownSize())
	}
	unknown.raw = d.appendMember(unknown.raw, name, slot, t)
}

// appendMember appends a property with its annotation, each after a comma. A double is always
// annotated, so that it remains a double if another client rewrites the number.
func (d *decoder) appendMember(dst []byte, name string, slot int32, t *token) []byte {
	value := d.data[t.start:t.end]
	annotation := ""
	switch {
	case t.edm == edmUnknown:
		for _, o := range d.unknownTypes {
			if o.slot == slot {
				annotation = string(d.data[o.start:o.end])
			}
		}
	case t.edm != 0:
		annotation = t.edm.String()
	case t.kind == tokNumber && t.wireType(value) == Double:
		annotation = Double.String()
	}
	e := encoder{dst: dst}
	if annotation != "" {
		e.dst = append(e.dst, ',')
		e.quote(name)
		e.dst = append(e.dst[:len(e.dst)-1], annotationSuffix+`":"`...)
		e.dst = append(append(e.dst, annotation...), '"')
	}
	e.dst = append(e.dst, ',')
	e.quote(name)
	e.dst = append(e.dst, ':')
	start, end := t.start, t.end
	if t.kind == tokString {
		start, end = start-1, end+1
	}
	return append(e.dst, d.data[start:end]...)
}

// maxChunk is the most memory that unknown properties of a row share with those of others,
// and so what one row that is kept can keep of the others.
const maxChunk = 2 << 10

// room returns an empty slice with the given capacity. The chunks that rows share become
// larger from row to row, so that the first row has no more than it needs.
func (d *decoder) room(n int) []byte {
	if n > len(d.chunk) {
		d.chunkSize = min(2*d.chunkSize, maxChunk)
		d.chunk = make([]byte, max(n, d.chunkSize))
		d.chunkSize = len(d.chunk)
	}
	r := d.chunk[:0:n]
	d.chunk = d.chunk[n:]
	return r
}

// unknownSize estimates the bytes that the unknown properties of the row need.
func (d *decoder) unknownSize() int {
	n := 0
	for _, slot := range d.unknown {
		t := &d.toks[slot]
		name := len(d.names[int(slot)-d.plan.slots])
		n += len(`,"":""`) + name + int(t.end-t.start)
		if t.edm != 0 || t.kind == tokNumber {
			n += len(`,"":"Edm.DateTime"`+annotationSuffix) + name
		}
	}
	return n
}
