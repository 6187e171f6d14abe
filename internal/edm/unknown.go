package edm

import (
	"bytes"
	"errors"
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

// entityStart opens an entity that has its types, as an answer with metadata does.
const entityStart = `{"odata.metadata":"x"`

// DecodeAs decodes the properties of r into *dst, as if the row had been read with this
// codec; what it has no field for goes to rest.
func (r *Unknown) DecodeAs(c *Codec, pk, rk string, dst any, rest *Unknown) error {
	body := make([]byte, 0, len(entityStart)+len(r.raw)+len(pk)+len(rk)+64)
	body = append(body, entityStart...)
	e := encoder{dst: append(body, `,"PartitionKey":`...)}
	if err := e.key(partitionKeyName, pk); err != nil {
		return err
	}
	e.dst = append(e.dst, `,"RowKey":`...)
	if err := e.key(rowKeyName, rk); err != nil {
		return err
	}
	body = append(e.dst, r.raw...)
	var m Meta
	return c.DecodeEntity(append(body, '}'), dst, &m, rest)
}

// Value is one property of r, as the Go value of its type.
func (r *Unknown) Value(name string) (value any, ok bool, err error) {
	r.each(func(p *restProperty) {
		if p.name != name || ok || err != nil {
			return
		}
		one := Unknown{raw: p.member}
		var all map[string]any
		err = one.DecodeAs(contentCodec, "", "", &all, nil)
		value, ok = all[name]
	})
	if ok && err == nil && value == nil {
		err = errors.New("property without a value")
	}
	return value, ok, err
}

// Text is the value of a text property in r.
func (r *Unknown) Text(name string) (text string, ok bool) {
	r.each(func(p *restProperty) {
		if p.name != name || ok || p.tok.kind != tokString || p.tok.wireType(p.value) != String {
			return
		}
		value := p.value
		if p.tok.escaped {
			value, ok = unescape(nil, value)
		} else {
			ok = true
		}
		text = string(value)
	})
	return text, ok
}

// WithText is r with a text property, in place of the one it has of that name.
func (r *Unknown) WithText(name, text string) Unknown {
	e := encoder{dst: r.without(name)}
	e.dst = append(e.dst, ',')
	e.quote(name)
	e.dst = append(e.dst, ':')
	e.quote(text)
	return Unknown{raw: e.dst}
}

func (r *Unknown) without(name string) []byte {
	var raw []byte
	r.each(func(p *restProperty) {
		if p.name != name {
			raw = append(raw, p.member...)
		}
	})
	return raw
}

// assignOthers puts the properties that have no field into the bag or into rest.
func (d *decoder) assignOthers(v reflect.Value, rest *Unknown, m *Meta) error {
	p := d.plan
	bag := d.openBag(v, m)
	if rest != nil {
		rest.raw = nil
	}
	for _, slot := range d.others {
		t := &d.toks[slot]
		name := d.names[int(slot)-p.slots]
		if t.kind == tokNull {
			continue
		}
		if bag != nil && (p.everything || !isReserved(name)) {
			got, err := d.bagged(name, t, p.edmBag)
			if err != nil {
				return err
			}
			bag[name] = got
		} else if rest != nil {
			d.keepIn(rest, name, slot, t)
		}
	}
	return nil
}

// keepIn appends one member to rest. A double is annotated even where it needs no
// annotation here, so that it stays one through clients that rewrite numbers.
func (d *decoder) keepIn(rest *Unknown, name string, slot int32, t *token) {
	if rest.raw == nil {
		rest.raw = make([]byte, 0, d.restSize())
	}
	value := d.data[t.start:t.end]
	note := ""
	switch {
	case t.edm == edmUnknown:
		for _, o := range d.odd {
			if o.slot == slot {
				note = string(d.data[o.start:o.end])
			}
		}
	case t.edm != 0:
		note = t.edm.String()
	case t.kind == tokNumber && t.wireType(value) == Double:
		note = Double.String()
	}
	e := encoder{dst: rest.raw}
	if note != "" {
		e.dst = append(e.dst, ',')
		e.quote(name)
		e.dst = append(e.dst[:len(e.dst)-1], annotationSuffix+`":"`...)
		e.dst = append(append(e.dst, note...), '"')
	}
	e.dst = append(e.dst, ',')
	e.quote(name)
	e.dst = append(e.dst, ':')
	start, end := t.start, t.end
	if t.kind == tokString {
		start, end = start-1, end+1
	}
	rest.raw = append(e.dst, d.data[start:end]...)
}

// restSize is about what the row's rest needs.
func (d *decoder) restSize() int {
	n := 0
	for _, slot := range d.others {
		t := &d.toks[slot]
		name := len(d.names[int(slot)-d.plan.slots])
		n += len(`,"":""`) + name + int(t.end-t.start)
		if t.edm != 0 || t.kind == tokNumber {
			n += len(`,"":"Edm.DateTime"`+annotationSuffix) + name
		}
	}
	return n
}
