package table

import (
	"encoding/binary"
	"iter"
	"math"
	"strings"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/filter"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
)

// packed is the properties of a row as they are stored. A reply copies the JSON, and a filter
// parses the values that it compares.
type packed struct {
	// json is the members of an object with minimal metadata, each after a comma.
	json string
	// index is for each property its type and the lengths of its name and its value, as
	// varints. hasType is added to the type if an annotation precedes the member.
	index string
}

// stored is a stored property.
type stored struct {
	typ       filter.Type
	name      string
	json      string // the value
	bare      string // the member
	annotated string // the member, after its annotation if it has one
}

const (
	hasType   = 0x80
	noteStart = `@odata.type":"`
	noteEnd   = `",`
)

// pack appends p as it is stored to the JSON and to the index.
func (p *property) pack(json, index []byte) ([]byte, []byte) {
	typ := byte(p.value.Type)
	if annotated(p.value) {
		typ |= hasType
		json = append(append(json, `,"`...), p.name...)
		json = append(append(json, noteStart...), p.value.Type.String()...)
		json = append(json, noteEnd[:1]...)
	}
	json = append(append(json, `,"`...), p.name...)
	json = append(json, `":`...)
	from := len(json)
	json = appendValue(json, p.value)
	index = binary.AppendUvarint(append(index, typ), uint64(len(p.name)))
	return json, binary.AppendUvarint(index, uint64(len(json)-from))
}

// all yields the properties in their order.
func (s packed) all() iter.Seq[stored] {
	return func(yield func(stored) bool) {
		for s.index != "" {
			var p stored
			if p, s = s.cut(); !yield(p) {
				return
			}
		}
	}
}

// find returns the property with a name.
func (s packed) find(name string) (p stored, ok bool) {
	for s.index != "" {
		if p, s = s.cut(); p.name == name {
			return p, true
		}
	}
	return stored{}, false
}

// cut returns the first property and the rest.
func (s packed) cut() (stored, packed) {
	typ := filter.Type(s.index[0] &^ hasType)
	name, index := cutUvarint(s.index[1:])
	value, rest := cutUvarint(index)
	note := 0
	if s.index[0]&hasType != 0 {
		note = len(`"`) + name + len(noteStart) + len(typ.String()) + len(noteEnd)
	}
	annotated := s.json[len(","):]
	from := note + len(`"`) + name + len(`":`)
	p := stored{typ: typ, annotated: annotated[:from+value]}
	p.bare = p.annotated[note:]
	p.name = p.bare[len(`"`) : len(`"`)+name]
	p.json = p.annotated[from:]
	return p, packed{annotated[from+value:], rest}
}

// cutUvarint returns the number at the beginning of s, and the rest.
func cutUvarint(s string) (n int, rest string) {
	shift, i := 0, 0
	for ; s[i] >= 0x80; i++ {
		n |= int(s[i]&0x7F) << shift
		shift += 7
	}
	return n | int(s[i])<<shift, s[i+1:]
}

// value parses the value.
func (p stored) value() filter.Value {
	if p.typ == filter.String && strings.IndexByte(p.json, '\\') < 0 {
		return filter.Value{Text: p.json[1 : len(p.json)-1]}
	}
	v, _ := parseValue(p.typ, request.Scalar(p.json)) // it was valid when it was stored
	return v
}

// append appends p as a member of an object.
func (p stored) append(b []byte, l level) []byte {
	if l == noMetadata {
		return append(b, p.bare...)
	}
	return append(b, p.annotated...)
}

// annotated reports whether an annotation with the type of v precedes it in a reply. JSON alone
// identifies the other types.
func annotated(v filter.Value) bool {
	switch v.Type {
	case filter.Int64, filter.DateTime, filter.GUID, filter.Binary:
		return true
	case filter.Double: // which JSON cannot contain otherwise
		return math.IsNaN(v.Float) || math.IsInf(v.Float, 0)
	}
	return false
}
