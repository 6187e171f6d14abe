package edm

import (
	"cmp"
	"encoding/base64"
	"reflect"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// An encrypted field is written as any other, and then the member that was written is encrypted: its
// type and its text. When a row is read, the member is made again and read as any other. So
// notes contain members as they are before encryption, and no other part of this package has to know
// of it. Types and texts are kept, JSON is merged.

// SealedCodecFor is [CodecFor] with the keys of a table. The fields with the option encrypted are stored
// as an Edm.Binary that only box can read, in the row and the property for which it was written. A nil
// box is for types without such fields.
func SealedCodecFor(t reflect.Type, box *sealed.Box) (*Codec, error) {
	return sealedCodec(codecKey{typ: t}, box)
}

func sealedCodec(k codecKey, box *sealed.Box) (*Codec, error) {
	if box == nil {
		return openCodec(k)
	}
	c, err := codecFor(k)
	if err != nil {
		return nil, err
	}
	own := newCodec(c.plan)
	own.box, own.plain = box, c
	return own, nil
}

// placeOf returns the place of the properties of a row, without their names.
func placeOf(key keys.Key) sealed.Place {
	return sealed.Place{Partition: key.Partition, Row: key.Row}
}

// ComparingCodecFor is [CodecFor] of types that may have encrypted fields, whose values are not encrypted. What
// it writes must only be compared.
func ComparingCodecFor(t reflect.Type) (*Codec, error) { return codecFor(codecKey{typ: t}) }

// openCodec returns the codec of a type without encrypted fields.
func openCodec(k codecKey) (*Codec, error) {
	c, err := codecFor(k)
	if err == nil && c.plan.encrypted != "" {
		return nil, &FieldError{Type: k.typ.String(), Field: c.plan.encrypted, Err: azerr.ErrNoKey, Reason: "is encrypted, and there are no keys: " +
			"the options of the table have them, what has no such option cannot have encrypted properties"}
	}
	return c, err
}

// Of returns the codec of another type with the keys of c.
func (c *Codec) Of(t reflect.Type) (*Codec, error) { return SealedCodecFor(t, c.box) }

// Comparing returns c without encryption. What it writes must only be compared.
func (c *Codec) Comparing() *Codec {
	if c.plan.encrypted == "" {
		return c
	}
	return cmp.Or(c.plain, c)
}

// Opened returns the value of a property that is stored at a place, which must be one of [Properties], as it was
// before encryption. A value that does not open stays as it is: it is equal to none that opens.
func (c *Codec) Opened(at sealed.Place, v any) any {
	f, stored := c.plan.fieldOf(at.Property), []byte(nil)
	if f != nil && f.sealed != nil && c.box != nil {
		stored, _ = v.([]byte)
	}
	if stored == nil {
		return v
	}
	member, err := openMember(c.box, f, at, stored)
	if err != nil {
		return v
	}
	one := Unknown{raw: member}
	if value, ok, err := one.Value(at.Property); ok && err == nil {
		return value
	}
	return v
}

// Encrypted returns the names of the encrypted properties.
func (c *Codec) Encrypted() (names []string) {
	for i := range c.plan.fields {
		if f := &c.plan.fields[i]; f.sealed != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// Outdated reports whether a row has an encrypted property, or its first piece, with another key than the current one.
func (c *Codec) Outdated(row Properties) bool {
	return slices.ContainsFunc(c.Encrypted(), func(name string) bool {
		stored, _ := row[name].([]byte)
		return c.box.Outdated(stored)
	})
}

// Renewed returns the encrypted properties of a row that have another key than the current one, encrypted with that; nil for none.
func (c *Codec) Renewed(key keys.Key, row Properties) (renewed Properties, err error) {
	at := placeOf(key)
	for _, name := range c.Encrypted() {
		stored, _ := row[name].([]byte)
		if text, ok := row[name].(string); ok { // as a program writes it that knows no types
			stored, _ = decodeBase64(nil, []byte(text))
		}
		at.Property = name
		stored, err := c.box.Renew(at, stored)
		if err != nil {
			return nil, sealError(c.plan.fieldOf(name), err)
		}
		if stored != nil && renewed == nil {
			renewed = Properties{}
		}
		if stored != nil {
			renewed[name] = stored
		}
	}
	return renewed, nil
}

// sealedField returns the field as its encrypted value is written.
func (f *field) sealedField() *field {
	s := &field{tagOptions: tagOptions{name: f.name}, nameSize: f.nameSize, edm: Binary}
	s.prefix, _ = prefixes(f.name, Binary)
	return s
}

// storedEDM returns the type with which the property is stored.
func (f *field) storedEDM() Type {
	if f.encrypted {
		return Binary
	}
	return f.edm
}

// sealedField writes the encrypted property of the field f of entity, unless it is omitted.
func (w *encoder) sealedField(p *plan, f *field, entity reflect.Value) (err error) {
	one := encoder{dst: w.scratch[:0], notes: w.notes, named: w.named, unlimited: true}
	if err := one.openField(p, f, entity); err != nil || len(one.dst) == 0 {
		return err
	}
	w.scratch = one.dst[:0]
	var stored []byte
	eachMember(one.dst, func(m unknownProperty) {
		content := m.value
		if m.tok.escaped {
			content, _ = unescape(nil, content)
		}
		kind := m.tok.wireType(m.value)
		if kind == Binary {
			content, _ = decodeBase64(nil, content)
		}
		at := w.at
		at.Property = f.name
		stored, err = w.box.Seal(at, byte(kind), content)
	})
	if err != nil {
		return sealError(f, err)
	}
	if w.split != nil {
		w.begin(f.name)
	}
	return w.binary(f.sealed, stored)
}

// sealError returns the error of a value that cannot be encrypted or decrypted.
func sealError(f *field, err error) error {
	e := &types.PropertyError{Property: f.name, Want: "an encrypted value of this property in this row", Got: "another value", Err: err}
	if err == azerr.ErrNoKey {
		e.Want, e.Got = "the key of its encrypted value", "no such key"
	}
	return e
}

// openMember returns the member that was written before it was encrypted.
func openMember(box *sealed.Box, f *field, at sealed.Place, stored []byte) ([]byte, error) {
	kind, content, err := box.Open(at, stored)
	if err != nil {
		return nil, err
	}
	edm := Type(kind)
	prefix, alt := prefixes(f.name, edm)
	w := encoder{dst: make([]byte, 0, len(alt)+len(content)*4/3+8)}
	switch edm {
	case Int32, Boolean:
		return append(append(w.dst, prefix...), content...), nil
	case Double:
		w.dst = append(w.dst, alt...)
		if len(content) > 0 && (content[0] == 'N' || content[0] == 'I' || len(content) > 1 && content[1] == 'I') {
			w.quoted(content)
			return w.dst, nil
		}
		return append(w.dst, content...), nil
	case Binary:
		w.dst = append(append(w.dst, prefix...), '"')
		return append(base64.StdEncoding.AppendEncode(w.dst, content), '"'), nil
	case String, Int64, DateTime, Guid:
		w.dst = append(w.dst, prefix...)
		w.quote(string(content))
		return w.dst, nil
	}
	return nil, azerr.ErrSealed // of a later version
}

// opened is an encrypted property of a row: its member as it was before encryption.
type opened struct {
	field int
	data  []byte
	tok   token
}

// setSealed decrypts the value t of field i and stores it in v.
func (d *decoder) setSealed(i int, t *token, v reflect.Value) error {
	f := &d.plan.fields[i]
	if t.kind != tokString || t.edm != 0 && t.edm != Binary {
		return sealError(f, azerr.ErrSealed)
	}
	stored, ok := decodeBase64(nil, d.unescaped(t))
	if !ok {
		return sealError(f, azerr.ErrSealed)
	}
	at := d.place
	if at == (sealed.Place{}) {
		at.Row = string(d.unescaped(&d.toks[slotRowKey]))
		if d.inPartition() {
			at.Partition = *d.partition
		} else {
			at.Partition = string(d.unescaped(&d.toks[slotPartitionKey]))
		}
	}
	at.Property = f.name
	member, err := openMember(d.box, f, at, stored)
	if err != nil {
		return sealError(f, err)
	}
	o := opened{field: i, data: member}
	eachMember(member, func(m unknownProperty) {
		o.tok = m.tok
	})
	defer d.within(&o)()
	if !d.set(f, &o.tok, v) {
		return d.mismatch(f, &o.tok)
	}
	if !d.plain(&d.plan.looks[i], &o.tok) {
		d.unusual = append(d.unusual, i)
		d.opened = append(d.opened, o)
	}
	return nil
}

// within makes d read the member of o, until the result is called. The member shows its type, also
// if the row does not.
func (d *decoder) within(o *opened) func() {
	data, level := d.data, d.level
	d.data, d.level = o.data, levelTyped
	return func() { d.data, d.level = data, level }
}

// noteSealed notes the property of field i if it is encrypted.
func (d *decoder) noteSealed(i int, entity reflect.Value) bool {
	for j := range d.opened {
		if o := &d.opened[j]; o.field == i {
			defer d.within(o)()
			d.note(i, &o.tok, entity)
			return true
		}
	}
	return false
}

// openMembers replaces the encrypted members of a row at a place, as c has written them, by what they were before
// encryption.
func (c *Codec) openMembers(row map[string][]byte, at sealed.Place) {
	if c.Comparing() == c {
		return
	}
	for _, name := range c.Encrypted() {
		at.Property = name
		eachMember(row[name], func(m unknownProperty) {
			stored, _ := decodeBase64(nil, m.value)
			if member, err := openMember(c.box, c.plan.fieldOf(name), at, stored); err == nil {
				row[name] = member
			} else { // the key is gone
				delete(row, name)
			}
		})
	}
}
