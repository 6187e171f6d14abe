package edm

import (
	"encoding/base64"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A SplitSpec says how Codec.Split distributes an entity over rows.
type SplitSpec struct {
	Rows    int
	RowOf   func(name string, piece int) int // the row of a property, 0 to Rows-1
	Only    []string                         // the properties to write, nil for all
	Unknown *Unknown                         // nil = none; left out where Only is set
	Note    string                           // name of a text property that AppendRow adds to each row
}

// SplitEntity is an entity, distributed over rows. It is for one goroutine.
type SplitEntity struct {
	// Splits tells the properties that have several pieces, and how many.
	Splits map[string]int

	// Missing are the names of SplitSpec.Only that the entity has no value for.
	Missing []string

	plan  SplitSpec
	rows  []scatteredRow
	at    int // the row that the encoder has
	from  int // where in it the property begins
	wrote bool
}

type scatteredRow struct {
	members []byte // each after a comma
	sizer   sizer
}

// Split encodes each property of *entity into the row that s says, and splits
// values over 64 KiB. Its other checks and errors are those of Append; the size of
// the rows is checked by AppendRow. The codec is one of SplitCodecFor.
func (c *Codec) Split(entity any, s SplitSpec) (*SplitEntity, error) {
	out := &SplitEntity{plan: s, rows: make([]scatteredRow, s.Rows)}
	for i := range out.rows {
		out.rows[i].sizer.size = Size{Properties: 1, Bytes: entityOverhead + nameCost(s.Note) + 4}
	}
	w := encoder{wide: out}
	w.sizer = out.rows[0].sizer
	err := w.scatter(c.plan, reflect.ValueOf(entity).Elem())
	out.rows[out.at] = scatteredRow{w.dst, w.sizer}
	return out, err
}

func (w *encoder) scatter(p *plan, v reflect.Value) error {
	s := w.wide
	var only map[string]bool // true: written
	if s.plan.Only != nil {
		only = make(map[string]bool, len(s.plan.Only))
		for _, name := range s.plan.Only {
			only[name] = false
		}
	}
	write := func(name string, encode func() error) error {
		if _, ok := only[name]; only != nil && !ok {
			return nil
		}
		w.turn(s.plan.RowOf(name, 0))
		s.from, s.wrote = len(w.dst), false
		if err := encode(); err != nil {
			return err
		}
		if only != nil {
			only[name] = s.wrote || len(w.dst) > s.from
		}
		return nil
	}
	for i := range p.fields {
		f := &p.fields[i]
		fv, ok := f.get(v)
		if !ok || f.left(fv) {
			continue
		}
		if err := write(f.name, func() error { return w.property(p, f, fv, v) }); err != nil {
			return err
		}
	}
	bag := p.bagIn(v)
	for _, name := range bagNames(bag) {
		if err := write(name, func() error { return w.bagProperty(p, bag, name, false) }); err != nil {
			return err
		}
	}
	for _, name := range s.plan.Only {
		if !only[name] {
			s.Missing = append(s.Missing, name)
		}
	}
	if only != nil || s.plan.Unknown == nil {
		return nil
	}
	var err error
	s.plan.Unknown.each(func(r *restProperty) {
		_, isField := p.index[r.name]
		if _, inBag := bag[r.name]; err != nil || isField || inBag || isReserved(r.name) {
			return
		}
		err = write(r.name, func() error { return w.restProperty(r) })
	})
	return err
}

// turn makes row the one that is written to.
func (w *encoder) turn(row int) {
	if s := w.wide; row != s.at {
		s.rows[s.at] = scatteredRow{w.dst, w.sizer}
		s.at = row
		w.dst, w.sizer = s.rows[row].members, s.rows[row].sizer
	}
}

// split begins the piece of the property f.
func (w *encoder) split(f *field, piece int, edm Type) (field, error) {
	s := w.wide
	name := f.name
	if piece == 0 {
		w.dst = w.dst[:s.from] // what had been written of the whole
		s.wrote = true
	} else {
		name = PieceName(name, piece)
		if utf16Length(name) > maxNameLength {
			return field{}, tooLarge(f.name, "a shorter name, for a value in pieces", utf16Length(f.name))
		}
		w.turn(s.plan.RowOf(f.name, piece))
	}
	if s.Splits == nil {
		s.Splits = map[string]int{}
	}
	s.Splits[f.name] = piece + 1
	// Errors name the property, not the piece.
	part := field{tagOptions: tagOptions{name: f.name}, cost: nameCost(name), edm: edm}
	part.lead, _ = leads(name, edm)
	return part, nil
}

func (w *encoder) splitText(f *field, text string) error {
	for piece := 0; text != ""; piece++ {
		part, err := w.split(f, piece, String)
		if err != nil {
			return err
		}
		var head string
		head, text = cutText(text, pieceUnits)
		w.dst = append(w.dst, part.lead...)
		units, _ := w.quote(head)
		w.sizer.add(&part, 4+2*units)
	}
	return nil
}

func (w *encoder) splitBinary(f *field, b []byte) error {
	for piece := 0; len(b) > 0; piece++ {
		part, err := w.split(f, piece, Binary)
		if err != nil {
			return err
		}
		n := min(pieceBytes, len(b))
		w.dst = append(append(w.dst, part.lead...), '"')
		w.dst = append(base64.StdEncoding.AppendEncode(w.dst, b[:n]), '"')
		w.sizer.add(&part, 4+n)
		b = b[n:]
	}
	return nil
}

// restProperty writes a property as it came, but for its pieces.
func (w *encoder) restProperty(r *restProperty) error {
	f := field{tagOptions: tagOptions{name: r.name}, cost: nameCost(r.name)}
	if len(r.value) > maxTextUnits {
		text := r.value
		if r.tok.escaped {
			text, _ = unescape(nil, text)
		}
		f.lead, _ = leads(r.name, r.tok.wireType(r.value))
		switch f.edm = r.tok.wireType(r.value); {
		case f.edm == String && utf8.Valid(text):
			w.dst = append(w.dst, f.lead...)
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

// Members are the properties of a row as they stand in it, each after a comma; none
// where nothing was placed there.
func (s *SplitEntity) Members(row int) []byte { return s.rows[row].members }

// Check answers whether the rows, with keys of so many UTF-16 units, are within the
// limits of one row, notes aside. The error is that of AppendRow.
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

// Largest is the property with the largest piece.
func (s *SplitEntity) Largest() string {
	name, most := "", 0
	for i := range s.rows {
		if z := &s.rows[i].sizer; z.most > most {
			name, most = z.largest, z.most
		}
	}
	return name
}

// Clear adds an empty piece of a property, to be merged over one that its row has
// and that is needed no more.
func (s *SplitEntity) Clear(name string, piece int) {
	row := &s.rows[s.plan.RowOf(name, piece)]
	stored := PieceName(name, piece)
	lead, _ := leads(stored, String)
	row.members = append(append(row.members, lead...), `""`...)
	row.sizer.add(&field{tagOptions: tagOptions{name: name}, cost: nameCost(stored)}, 4)
}

// AppendRow appends one row as a JSON object: its keys, properties and note. The
// error is a *PropertyError that names the property which is one too many, or the
// largest where they take more than 1 MiB.
func (s *SplitEntity) AppendRow(dst []byte, row int, pk, rk, note string) ([]byte, error) {
	r := &s.rows[row]
	w := encoder{dst: dst, sizer: r.sizer}
	w.dst = append(w.dst, `{"PartitionKey":`...)
	if err := w.key(partitionKeyName, pk); err != nil {
		return dst, err
	}
	w.dst = append(w.dst, `,"RowKey":`...)
	if err := w.key(rowKeyName, rk); err != nil {
		return dst, err
	}
	w.dst = append(w.dst, r.members...)
	w.dst = append(append(append(w.dst, `,"`...), s.plan.Note...), `":`...)
	units, ok := w.quote(note)
	switch {
	case !ok:
		return dst, &PropertyError{Property: s.plan.Note, Want: "UTF-8", Got: "other bytes"}
	case units > maxTextUnits:
		return dst, tooLarge(s.plan.Note, wantText, units)
	}
	w.sizer.size.Bytes += 2 * units
	w.dst = append(w.dst, '}')
	if err := w.sizer.check(); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// SplitCodecFor is CodecFor for values that take several rows, written by Split and
// read by Join: the type may have any number of fields.
func SplitCodecFor(t reflect.Type) (*Codec, error) {
	return codecFor(codecKey{typ: t, wide: true})
}

// A value over 64 KiB is split. The first piece has the property's name; further
// ones have that of PieceName. The length of a binary piece is a multiple of 3, so
// that its base64 has no padding and pieces can be joined as they stand.
const (
	pieceUnits = maxTextUnits
	pieceBytes = maxBinary - maxBinary%3
)

// PieceName is the name of a further piece of a property: 1 is the second.
func PieceName(name string, piece int) string {
	return reservedPrefix + strconv.Itoa(piece) + "_" + name
}

// isPiece answers whether the name is one that PieceName gives.
func isPiece(name string) bool {
	digits, ok := strings.CutPrefix(name, reservedPrefix)
	return ok && digits != "" && '0' <= digits[0] && digits[0] <= '9'
}

// cutText gives the first n UTF-16 units of s, one less where a pair would be
// parted, and the rest.
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

// IsReserved answers whether the library keeps this property name for itself.
func IsReserved(name string) bool { return isReserved(name) }
