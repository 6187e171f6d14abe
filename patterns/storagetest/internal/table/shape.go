package table

import "github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"

// maxShapes is the largest number of shapes that the next row of a table can share.
const maxShapes = 256

// shape is what rows with the same names and annotations have in common: the JSON of their
// properties without the values. It is immutable.
type shape struct {
	// json is for each property a comma, its annotation and a comma if it has one, and its
	// name and a colon.
	json   string
	fields []field
}

// field is a property of a shape.
type field struct {
	end  uint32      // of its part of the JSON
	note uint16      // the length of its comma and its annotation, 0 if it has none
	typ  filter.Type // the type in the annotation
}

const (
	noteStart = `@odata.type":"`
	noteEnd   = `"`
)

// shapes contains shapes of the rows of a table, by their JSON. It contains at most maxShapes:
// a further one replaces any other, which its rows keep but later rows do not share.
type shapes map[string]*shape

// of returns the shape of a row with these properties.
func (s shapes) of(props []property) *shape {
	b := make([]byte, 0, 1024)
	for i := range props {
		b, _ = props[i].appendName(b)
	}
	if known := s[string(b)]; known != nil {
		return known
	}
	made := &shape{string(b), make([]field, len(props))}
	b = b[:0]
	for i := range props {
		b, made.fields[i] = props[i].appendName(b)
	}
	if len(s) == maxShapes {
		for one := range s {
			delete(s, one)
			break
		}
	}
	s[made.json] = made
	return made
}

// appendName appends what a shape contains of p.
func (p *property) appendName(b []byte) ([]byte, field) {
	var f field
	if annotated(p.value) {
		from := len(b)
		b = append(append(b, `,"`...), p.name...)
		b = append(append(b, noteStart...), p.value.Type.String()...)
		b = append(b, noteEnd...)
		f.note, f.typ = uint16(len(b)-from), p.value.Type
	}
	b = append(append(b, `,"`...), p.name...)
	b = append(b, `":`...)
	f.end = uint32(len(b))
	return b, f
}
