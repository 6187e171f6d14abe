package table

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"math"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// packed is the properties of a row as they are stored. A reply copies the names of the shape
// and the values, both of which are JSON, and a filter parses the values that it compares.
type packed struct {
	*shape
	values string // each one after its length, a varint
}

// stored is a stored property.
type stored struct {
	field
	names string // its part of the JSON of the shape
	json  string // the value
}

// appendPacked appends a value as it is stored.
func appendPacked(b []byte, v filter.Value) []byte {
	// The length of the value precedes it, but is known only after it was written.
	from := len(b)
	b = appendValue(append(b, 0), v)
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
		from := uint32(0)
		values := s.values
		for _, f := range s.fields {
			p := stored{field: f, names: s.json[from:f.end]}
			from = f.end
			if p.json, values = cutText(values); !yield(p) {
				return
			}
		}
	}
}

// append appends the members of an object, each one after a comma.
func (s packed) append(b []byte, l level) []byte {
	from, values := uint32(0), s.values
	for i := range s.fields {
		f := &s.fields[i]
		if l == noMetadata {
			from += uint32(f.note)
		}
		b = append(b, s.json[from:f.end]...)
		from = f.end
		var value string
		value, values = cutText(values)
		b = append(b, value...)
	}
	return b
}

// find returns the property with a name.
func (s packed) find(name string) (stored, bool) {
	for p := range s.all() {
		if p.name() == name {
			return p, true
		}
	}
	return stored{}, false
}

// cutText returns the text at the beginning of s, which its length precedes, and the rest.
func cutText(s string) (text, rest string) {
	n, i := int(s[0]&0x7F), 1
	for s[i-1] >= 0x80 {
		n |= int(s[i]&0x7F) << (7 * i)
		i++
	}
	s = s[i:]
	return s[:n], s[n:]
}

// name returns the name of p.
func (p stored) name() string { return p.names[int(p.note)+len(`,"`) : len(p.names)-len(`":`)] }

// value parses the value.
func (p stored) value() filter.Value {
	m := request.Member{Kind: request.NumberValue, Text: p.json}
	switch p.json[0] {
	case 't', 'f':
		m.Kind = request.BoolValue
	case '"':
		m.Kind, m.Text = request.StringValue, p.json[1:len(p.json)-1]
		if strings.Contains(m.Text, `\`) {
			_ = json.Unmarshal([]byte(p.json), &m.Text) // it was valid when it was stored
		}
	}
	if p.note == 0 {
		v, _ := plainValue(m)
		return v
	}
	v, _ := parseValue(p.typ, m)
	return v
}

// append appends p as a member of an object, after a comma.
func (p stored) append(b []byte, l level) []byte {
	if l == noMetadata {
		p.names = p.names[p.note:]
	}
	return append(append(b, p.names...), p.json...)
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
