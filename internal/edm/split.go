package edm

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// A SplitSpec describes how Codec.Split distributes an entity over rows.
type SplitSpec struct {
	Rows    int
	RowOf   func(name string, piece int) int // the row of a property, 0 to Rows-1
	Only    []string                         // the properties to write, nil for all
	Unknown *Unknown                         // nil for none; not written if Only is set
	Note    string                           // name of a text property that AppendRow adds to each row, "" for none
	Place   keys.Key                         // for which encrypted values are encrypted, whatever row they are in
}

// SplitEntity is an entity that is distributed over rows. Only one goroutine may use it.
type SplitEntity struct {
	// Splits has the number of pieces of each property that has several.
	Splits map[string]int

	// Missing are the names of SplitSpec.Only that the entity has no value for.
	Missing []string

	codec   *Codec
	spec    SplitSpec
	rows    []splitRow
	at      int  // the row that the encoder writes to
	from    int  // where in that row the property begins
	written bool // the property was written, perhaps to another row
}

type splitRow struct {
	members []byte // each after a comma
	sizer   sizer
}

// Split encodes each property of *entity into the row that s.RowOf returns for it, and
// splits values over 64 KiB into pieces. Its other checks and errors are those of Append.
// It does not check the size of the rows; AppendRow does. The codec must be from
// SplitCodecFor.
func (c *Codec) Split(entity any, s SplitSpec) (*SplitEntity, error) {
	out := &SplitEntity{codec: c, spec: s, rows: make([]splitRow, s.Rows)}
	for i := range out.rows {
		size := entitySize{Bytes: entityOverhead}
		if s.Note != "" {
			size = entitySize{Properties: 1, Bytes: entityOverhead + nameSize(s.Note) + 4}
		}
		out.rows[i].sizer.size = size
	}
	w := encoder{split: out, named: s.Only != nil, box: c.box, at: placeOf(s.Place)}
	if s.Unknown != nil {
		w.notes = s.Unknown.notes
	}
	w.sizer = out.rows[0].sizer
	err := w.splitEntity(c.plan, reflect.ValueOf(entity).Elem())
	out.rows[out.at] = splitRow{w.dst, w.sizer}
	return out, err
}

func (w *encoder) splitEntity(p *plan, v reflect.Value) error {
	s := w.split
	inMap := p.unknownIn(v)
	if s.spec.Only != nil {
		return w.splitNamed(p, v, inMap)
	}
	for i := range p.fields {
		if err := w.structField(p, &p.fields[i], v); err != nil {
			return err
		}
	}
	for _, name := range propertyNames(inMap) {
		if err := w.mapEntry(p, inMap, name, false); err != nil {
			return err
		}
	}
	if s.spec.Unknown == nil {
		return nil
	}
	var err error
	s.spec.Unknown.each(func(r unknownProperty) {
		name := string(r.name)
		_, isField := p.index[name]
		if _, ok := inMap[name]; err != nil || isField || ok || IsReserved(name) {
			return
		}
		w.begin(name)
		err = w.splitUnknown(r)
	})
	return err
}

// splitNamed writes the properties of SplitSpec.Only.
func (w *encoder) splitNamed(p *plan, v reflect.Value, inMap map[string]any) error {
	s := w.split
	for i, name := range s.spec.Only {
		if slices.Contains(s.spec.Only[:i], name) {
			continue
		}
		s.written, s.from = false, len(w.dst)
		var err error
		if f := p.fieldOf(name); f != nil {
			err = w.structField(p, f, v)
		} else if _, ok := inMap[name]; ok && !isSystem(name) {
			err = w.mapEntry(p, inMap, name, false)
		}
		if err != nil {
			return err
		}
		if !s.written && len(w.dst) == s.from {
			s.Missing = append(s.Missing, name)
		}
	}
	return nil
}

// begin begins a property.
func (w *encoder) begin(name string) {
	s := w.split
	w.switchRow(s.spec.RowOf(name, 0))
	s.from, s.written = len(w.dst), false
}

// switchRow makes w write to the given row.
func (w *encoder) switchRow(row int) {
	if s := w.split; row != s.at {
		s.rows[s.at] = splitRow{w.dst, w.sizer}
		s.at = row
		w.dst, w.sizer = s.rows[row].members, s.rows[row].sizer
	}
}

// beginPiece begins a piece of the property f.
func (w *encoder) beginPiece(f *field, piece int, edm Type) (field, error) {
	s := w.split
	name := f.name
	if piece == 0 {
		w.dst = w.dst[:s.from] // remove what was written of the whole value
		s.written = true
	} else {
		name = PieceName(name, piece)
		if utf16Length(name) > maxNameLength {
			return field{}, tooLarge(f.name, "a shorter name, for a value in pieces", utf16Length(f.name))
		}
		w.switchRow(s.spec.RowOf(f.name, piece))
	}
	if s.Splits == nil {
		s.Splits = map[string]int{}
	}
	s.Splits[f.name] = piece + 1
	// Errors name the property, not the piece.
	part := field{tagOptions: tagOptions{name: f.name}, nameSize: nameSize(name), edm: edm}
	part.prefix, _ = prefixes(name, edm)
	return part, nil
}

func (w *encoder) splitText(f *field, text string) error {
	for piece := 0; text != ""; piece++ {
		part, err := w.beginPiece(f, piece, String)
		if err != nil {
			return err
		}
		var head string
		head, text = cutText(text, pieceUnits)
		w.dst = append(w.dst, part.prefix...)
		units, _ := w.quote(head)
		w.sizer.add(&part, 4+2*units)
	}
	return nil
}

func (w *encoder) splitBinary(f *field, b []byte) error {
	for piece := 0; len(b) > 0; piece++ {
		part, err := w.beginPiece(f, piece, Binary)
		if err != nil {
			return err
		}
		n := min(pieceBytes, len(b))
		w.dst = append(append(w.dst, part.prefix...), '"')
		w.dst = append(base64.StdEncoding.AppendEncode(w.dst, b[:n]), '"')
		w.sizer.add(&part, 4+n)
		b = b[n:]
	}
	return nil
}

// splitUnknown writes a property as it was read, in pieces if it is too large.
func (w *encoder) splitUnknown(r unknownProperty) error {
	name := string(r.name)
	f := fieldNamed(name)
	if len(r.value) > maxTextUnits {
		text := r.value
		if r.tok.escaped {
			text, _ = unescape(nil, text)
		}
		f.prefix, _ = prefixes(name, r.tok.wireType(r.value))
		switch f.edm = r.tok.wireType(r.value); {
		case f.edm == String && utf8.Valid(text):
			w.dst = append(w.dst, f.prefix...)
			return w.text(&f, string(text))
		case f.edm == Binary:
			if b, ok := decodeBase64(nil, text); ok {
				return w.binary(&f, b)
			}
		}
	}
	size, err := r.size()
	if err == nil {
		w.sizer.add(&f, size)
		w.dst = append(w.dst, r.member...)
	}
	return err
}

// Members returns the properties of a row as JSON members, each after a comma. It is empty
// if the row has none.
func (s *SplitEntity) Members(row int) []byte { return s.rows[row].members }

// Check checks that the rows, with keys of the given number of UTF-16 units, are within
// the limits of one row. It does not count notes. The error is that of AppendRow.
func (s *SplitEntity) Check(keyUnits int) error {
	for i := range s.rows {
		z := s.rows[i].sizer
		z.size.Bytes += 2 * keyUnits
		if err := z.check(); err != nil {
			return err
		}
	}
	return nil
}

// Largest returns the name of the property with the largest piece.
func (s *SplitEntity) Largest() string {
	name, most := "", 0
	for i := range s.rows {
		if z := &s.rows[i].sizer; z.largestSize > most {
			name, most = z.largest.String(), z.largestSize
		}
	}
	return name
}

// Clear adds an empty piece of a property, to be merged over a stored piece that is no
// longer needed.
func (s *SplitEntity) Clear(name string, piece int) {
	row := &s.rows[s.spec.RowOf(name, piece)]
	stored := PieceName(name, piece)
	prefix, _ := prefixes(stored, String)
	row.members = append(append(row.members, prefix...), `""`...)
	row.sizer.add(&field{tagOptions: tagOptions{name: name}, nameSize: nameSize(stored)}, 4)
}

// AppendRow appends one row as a JSON object: its keys, properties and note. If the row is
// over a limit, the error is a *types.PropertyError. It names property number 253, or the largest
// property if the row has more than 1 MiB.
func (s *SplitEntity) AppendRow(dst []byte, row int, pk, rk, note string) ([]byte, error) {
	r := &s.rows[row]
	w := encoder{dst: dst, sizer: r.sizer}
	w.dst = append(w.dst, '{')
	if err := w.keys(pk, rk); err != nil {
		return dst, err
	}
	w.dst = append(w.dst, r.members...)
	if s.spec.Note != "" {
		w.dst = append(append(append(w.dst, `,"`...), s.spec.Note...), `":`...)
		units, ok := w.quote(note)
		switch {
		case !ok:
			return dst, &types.PropertyError{Property: s.spec.Note, Want: "UTF-8", Got: "other bytes"}
		case units > maxTextUnits:
			return dst, tooLarge(s.spec.Note, wantText, units)
		}
		w.sizer.size.Bytes += 2 * units
	}
	w.dst = append(w.dst, '}')
	if err := w.sizer.check(); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// SplitCodecFor is [SealedCodecFor] for entities that are split over several rows. The type may have
// any number of fields. The codec is used with Split and Join.
func SplitCodecFor(t reflect.Type, box *sealed.Box) (*Codec, error) {
	return sealedCodec(codecKey{typ: t, wide: true}, box)
}

// A value over 64 KiB is split. The first piece has the property's name, the others have
// the names that PieceName returns. The length of a binary piece is a multiple of 3, so
// that its base64 has no padding and the pieces can be joined as they are.
const (
	pieceUnits = maxTextUnits
	pieceBytes = maxBinary - maxBinary%3
)

// PieceName returns the name of a piece of a property other than the first: piece 1 is the
// second.
func PieceName(name string, piece int) string {
	return reservedPrefix + strconv.Itoa(piece) + "_" + name
}

// isPiece reports whether PieceName returns such a name.
func isPiece(name string) bool {
	digits, ok := strings.CutPrefix(name, reservedPrefix)
	return ok && digits != "" && '0' <= digits[0] && digits[0] <= '9'
}

// cutText returns the first n UTF-16 units of s, one fewer if that would cut a surrogate
// pair, and the remainder.
func cutText(s string, n int) (piece, rest string) {
	units := 0
	for i, r := range s {
		units++
		if r > 0xFFFF {
			units++
		}
		if units > n {
			return s[:i], s[i:]
		}
	}
	return s, ""
}
