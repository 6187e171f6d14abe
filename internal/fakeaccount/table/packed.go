package table

import (
	"encoding/binary"
	"iter"
	"strings"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/filter"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
)

// packed is the properties of a row as they are stored: for each one its type, its name and
// its value in JSON, each text after its length. A reply copies the JSON, and a filter parses
// the values that it compares.
type packed string

// stored is a stored property.
type stored struct {
	typ        filter.Type
	name, json string
}

// pack appends p as it is stored.
func (p *property) pack(b []byte) []byte {
	b = append(b, byte(p.value.Type))
	b = append(binary.AppendUvarint(b, uint64(len(p.name))), p.name...)
	// The length of the value precedes it, but is known only after it was written.
	from := len(b)
	b = appendValue(append(b, 0), p.value)
	size := len(b) - from - 1
	if size < 0x80 {
		b[from] = byte(size)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	b = append(b, length[1:n]...) // makes room
	copy(b[from+n:], b[from+1:from+1+size])
	copy(b[from:], length[:n])
	return b
}

// all yields the properties in their order.
func (s packed) all() iter.Seq[stored] {
	return func(yield func(stored) bool) {
		for s != "" {
			var p stored
			if p, s = s.cut(); !yield(p) {
				return
			}
		}
	}
}

// find returns the property with a name.
func (s packed) find(name string) (p stored, ok bool) {
	for s != "" {
		if p, s = s.cut(); p.name == name {
			return p, true
		}
	}
	return stored{}, false
}

// cut returns the first property and the rest.
func (s packed) cut() (stored, packed) {
	p := stored{typ: filter.Type(s[0])}
	rest := string(s[1:])
	p.name, rest = cutText(rest)
	p.json, rest = cutText(rest)
	return p, packed(rest)
}

// cutText returns the text at the beginning of s, and the rest.
func cutText(s string) (text, rest string) {
	size, shift, i := uint(0), 0, 0
	for ; s[i] >= 0x80; i++ {
		size |= uint(s[i]&0x7F) << shift
		shift += 7
	}
	size |= uint(s[i]) << shift
	s = s[i+1:]
	return s[:size], s[size:]
}

// value parses the value.
func (p stored) value() filter.Value {
	if p.typ == filter.String && strings.IndexByte(p.json, '\\') < 0 {
		return filter.Value{Text: p.json[1 : len(p.json)-1]}
	}
	v, _ := parseValue(p.typ, request.Scalar(p.json)) // it was valid when it was stored
	return v
}

// annotated reports whether a reply of this level contains the type of p.
func (p stored) annotated(l level) bool {
	switch p.typ {
	case filter.Int64, filter.DateTime, filter.GUID, filter.Binary:
		return l != noMetadata
	case filter.Double: // NaN and Infinity are texts
		return l != noMetadata && p.json[0] == '"'
	}
	return false
}

// append appends p as a member of an object.
func (p stored) append(b []byte, l level) []byte {
	if p.annotated(l) {
		b = append(b, '"')
		b = append(b, p.name...)
		b = append(b, `@odata.type":"`...)
		b = append(b, p.typ.String()...)
		b = append(b, `",`...)
	}
	b = append(b, '"')
	b = append(b, p.name...)
	b = append(b, `":`...)
	return append(b, p.json...)
}
