package edm

import (
	"bytes"
	"reflect"
)

// Unknown is what a row holds beside the fields of its Go type: the properties as they
// came, with their types, in the order of the body. The zero Unknown is none. It shares
// no memory with the body it was read from. An answer without metadata has no types,
// and so must not be written back.
type Unknown struct {
	raw []byte // members as they stand in an object, each after a comma
}

// IsZero answers whether there is nothing.
func (r *Unknown) IsZero() bool { return len(r.raw) == 0 }

// Names lists the properties.
func (r *Unknown) Names() []string {
	var names []string
	r.each(func(p *restProperty) { names = append(names, p.name) })
	return names
}

type restProperty struct {
	name   string
	tok    token
	value  []byte // of a string without its quotes
	member []byte // with annotation and leading comma
}

// each takes the members apart again. The text is of this package's own making.
func (r *Unknown) each(yield func(*restProperty)) {
	s := scanner{data: r.raw}
	for s.pos < len(s.data) {
		var p restProperty
		var name, value token
		from := s.pos
		s.pos++
		s.text(&name)
		s.pos++
		s.value(&value, 1)
		text := r.raw[name.start:name.end]
		if base, ok := bytes.CutSuffix(text, []byte(annotationSuffix)); ok {
			edm := edmNamed(r.raw[value.start:value.end])
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
		p.name, p.tok = string(text), value
		p.value = r.raw[value.start:value.end]
		p.member = r.raw[from:s.pos]
		yield(&p)
	}
}

// rest writes the properties of r again, except those that the Go value has by now.
func (w *encoder) rest(c *Codec, v reflect.Value, r *Unknown) error {
	own := c.plan.bagIn(v)
	var err error
	r.each(func(p *restProperty) {
		if _, ok := own[p.name]; ok || err != nil {
			return
		}
		if _, ok := c.plan.index[p.name]; ok {
			return
		}
		var size int
		if size, err = p.size(); err == nil {
			w.sizer.add(&field{tagOptions: tagOptions{name: p.name}, cost: nameCost(p.name)}, size)
			w.dst = append(w.dst, p.member...)
		}
	})
	return err
}

// size is what the value counts.
func (p *restProperty) size() (int, error) {
	text := p.value
	if p.tok.escaped {
		text, _ = unescape(nil, text)
	}
	edm := p.tok.wireType(p.value)
	switch edm {
	case String:
		units := utf16Length(string(text))
		if units > maxTextUnits {
			return 0, tooLarge(p.name, wantText, units)
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
