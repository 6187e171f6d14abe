package edm

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// StoredRows are rows as they were read, with what tells whether they belong
// together. The zero value has none. It is for one goroutine.
type StoredRows struct {
	Rows []StoredRow
	data []byte // of all pages
}

// A StoredRow is one row of a StoredRows.
type StoredRow struct {
	RowKey    string
	ETag      string
	Timestamp time.Time

	at       int // in data
	reserved []reservedText
}

type reservedText struct{ name, text string }

// Text is the value of one of the library's own text properties, "" for none.
func (r *StoredRow) Text(name string) string {
	for _, p := range r.reserved {
		if p.name == name {
			return p.text
		}
	}
	return ""
}

// AddPage adds the rows of a query's answer. body is copied.
func (g *StoredRows) AddPage(body []byte) error {
	return g.add(body, func(s *scanner) bool { return s.page(g) })
}

// AddEntity adds the row of an answer to a point read, with the ETag of its header.
func (g *StoredRows) AddEntity(etag string, body []byte) error {
	err := g.add(body, func(s *scanner) bool { return s.row(g) })
	if err == nil && etag != "" {
		g.Rows[len(g.Rows)-1].ETag = etag
	}
	return err
}

func (g *StoredRows) add(body []byte, take func(*scanner) bool) error {
	from, rows := len(g.data), len(g.Rows)
	g.data = append(g.data, body...)
	s := scanner{data: g.data, pos: from}
	ok := uint64(len(g.data)) < 1<<31 || s.fail(from, "larger than 2 GiB")
	if ok = ok && take(&s) && s.finish(); ok {
		return nil
	}
	g.data, g.Rows = g.data[:from], g.Rows[:rows]
	s.err.Offset -= from
	return s.err
}

// page takes the rows of a page.
func (s *scanner) page(g *StoredRows) bool {
	if !s.expect('{') {
		return false
	}
	for {
		var name, value token
		if s.next() != '"' {
			return s.unexpected()
		}
		if !s.text(&name) || !s.expect(':') {
			return false
		}
		if string(s.data[name.start:name.end]) == "value" {
			if !s.rows(g) {
				return false
			}
		} else if !s.value(&value, 1) {
			return false
		}
		if s.next() != ',' {
			return s.expect('}')
		}
		s.pos++
	}
}

func (s *scanner) rows(g *StoredRows) bool {
	if !s.expect('[') {
		return false
	}
	if s.next() == ']' {
		s.pos++
		return true
	}
	for {
		if !s.row(g) {
			return false
		}
		if s.next() != ',' {
			return s.expect(']')
		}
		s.pos++
	}
}

// row takes one row: where it stands, and what is not a property of its own.
func (s *scanner) row(g *StoredRows) bool {
	if s.next() != '{' {
		return s.unexpected()
	}
	r := StoredRow{at: s.pos}
	s.pos++
	for s.next() != '}' {
		var name, value token
		if s.next() != '"' {
			return s.unexpected()
		}
		if !s.text(&name) || !s.expect(':') || !s.value(&value, 1) {
			return false
		}
		if value.kind == tokString {
			r.note(s.data[name.start:name.end], s.data[value.start:value.end], value.escaped)
		}
		if s.next() != ',' {
			break
		}
		s.pos++
	}
	g.Rows = append(g.Rows, r)
	return s.expect('}')
}

// note keeps a member that is the library's, or the service's.
func (r *StoredRow) note(name, value []byte, escaped bool) {
	text := func() string {
		if escaped {
			value, _ = unescape(nil, value)
		}
		return string(value)
	}
	switch string(name) {
	case rowKeyName:
		r.RowKey = text()
	case etagName:
		r.ETag = text()
	case timestampName:
		r.Timestamp, _ = parseDateTime(value)
	default:
		if isReserved(string(name)) && !isPiece(string(name)) && !bytes.HasSuffix(name, []byte(annotationSuffix)) {
			r.reserved = append(r.reserved, reservedText{string(name), text()})
		}
	}
}

// A JoinSpec says what Codec.Join puts together.
type JoinSpec struct {
	Use    []int          // the rows, by their place in StoredRows.Rows
	Splits map[string]int // properties that are in several pieces, and how many
	Only   []string       // the properties to read, nil for all
}

// Join puts one entity together from rows of g that have each property once, and
// reads it into *dst as DecodeEntity does: a value that the caller has zeroed. The
// library's own properties are dropped. Fields and entries for keys, ETag and
// Timestamp stay empty; SetKeys fills the keys. The codec is one of SplitCodecFor.
//
// A piece that is missing is a *PropertyError. g can be gathered again.
func (c *Codec) Join(g *StoredRows, how JoinSpec, dst any, rest *Unknown) error {
	d := c.decoder(g.data)
	defer c.release(d)
	d.begin()
	at, kept := 0, 0
	own := firstFieldSlot + len(c.plan.fields)
	for _, i := range how.Use {
		d.pos = g.Rows[i].at
		if !d.takeMembers(&at) {
			return d.err
		}
		// The next row has these again.
		clear(d.toks[:firstFieldSlot])
		clear(d.toks[own:c.plan.slots])
		kept = d.dropNotes(kept)
	}
	if err := d.join(how.Splits); err != nil {
		return err
	}
	d.restrict(how.Only)
	var m Meta
	v := reflect.ValueOf(dst).Elem()
	err := d.assign(v, &m)
	if err == nil && (rest != nil || c.plan.open()) {
		err = d.assignOthers(v, rest, &m)
	}
	d.slab.Reset()
	return err
}

// dropNotes takes the library's own properties, but not the pieces, out of the others
// from place from on, and answers how many stay.
func (d *decoder) dropNotes(from int) int {
	kept := d.others[:from]
	for _, slot := range d.others[from:] {
		name := d.names[int(slot)-d.plan.slots]
		if isReserved(name) && !isPiece(name) {
			d.toks[slot] = token{}
			continue
		}
		kept = append(kept, slot)
	}
	d.others = kept
	return len(kept)
}

// restrict drops what was not asked for, and the pieces.
func (d *decoder) restrict(only []string) {
	asked := make(map[string]bool, len(only))
	for _, name := range only {
		asked[name] = true
	}
	for i := range d.plan.fields {
		if only != nil && !asked[d.plan.fields[i].name] {
			d.toks[firstFieldSlot+i] = token{}
		}
	}
	d.others = slices.DeleteFunc(d.others, func(slot int32) bool {
		name := d.names[int(slot)-d.plan.slots]
		return isReserved(name) || only != nil && !asked[name]
	})
}

// join makes one text of the pieces of each property.
func (d *decoder) join(splits map[string]int) error {
	for name, n := range splits {
		first := d.tokenOf(name)
		d.data = append(d.data, '"') // Unknown keeps a text with its quotes
		start := len(d.data)
		var joined token
		for piece := range n {
			t := first
			if piece > 0 {
				t = d.tokenOf(PieceName(name, piece))
			} else if t != nil {
				joined = *t
			}
			if t == nil || t.kind != tokString || t.edm != first.edm {
				return &PropertyError{Property: name, Want: "all its pieces", Got: "another number of them", Err: azerr.ErrBadReply}
			}
			d.data = append(d.data, d.data[t.start:t.end]...)
			joined.escaped = joined.escaped || t.escaped
		}
		if uint64(len(d.data)) > 1<<31 {
			return &PropertyError{Property: name, Want: "less than 2 GiB", Got: "more", Err: azerr.ErrTooLarge}
		}
		joined.start, joined.end = uint32(start), uint32(len(d.data))
		d.data = append(d.data, '"')
		*first = joined
	}
	return nil
}

// tokenOf is the value of a property in the row, nil where it has none.
func (d *decoder) tokenOf(name string) *token {
	i, ok := d.plan.index[name]
	if !ok {
		i, ok = d.index[name]
	}
	if !ok || d.members[i].use != useValue {
		return nil
	}
	if t := &d.toks[d.members[i].slot]; t.kind != tokNone && t.kind != tokNull {
		return t
	}
	return nil
}

// AddFrom adds the first row of other, which has one, and gives its place in Rows.
func (g *StoredRows) AddFrom(other *StoredRows) int {
	row := other.Rows[0]
	row.at += len(g.data)
	g.data = append(g.data, other.data...)
	g.Rows = append(g.Rows, row)
	return len(g.Rows) - 1
}
