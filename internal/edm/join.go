package edm

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// StoredRows are the rows of one or more entities as they were read, to be joined into
// entities by Codec.Join. The zero value has no rows. Only one goroutine may use it.
type StoredRows struct {
	Rows []StoredRow
	data []byte // the bodies of all replies
}

// A StoredRow is one row of a StoredRows.
type StoredRow struct {
	RowKey    string
	ETag      string
	Timestamp time.Time

	start    int // in data
	reserved []reservedText
}

type reservedText struct{ name, text string }

// Text returns the value of a text property with a reserved name, "" if the row has none.
func (r *StoredRow) Text(name string) string {
	for _, p := range r.reserved {
		if p.name == name {
			return p.text
		}
	}
	return ""
}

// AddPage adds the rows of the reply to a query. body is copied.
func (g *StoredRows) AddPage(body []byte) error {
	return g.add(body, func(s *scanner) error {
		return s.page(func() error {
			at := s.pos
			err := s.row(g)
			if err == nil && azerr.CheckVersion(g.Rows[len(g.Rows)-1].ETag) != nil {
				s.fail(at, "a row without a valid ETag")
				err = s.err
			}
			return err
		})
	})
}

// AddEntity adds the row of the reply to a point read, with the ETag of its header.
func (g *StoredRows) AddEntity(etag string, body []byte) error {
	err := g.add(body, func(s *scanner) error {
		if err := s.row(g); err != nil {
			return err
		}
		s.atEnd()
		return s.failed()
	})
	if err == nil && etag != "" {
		g.Rows[len(g.Rows)-1].ETag = etag
	}
	return err
}

// Names returns the names of the properties of row i that have a value and are of the
// entity: neither reserved, nor keys or Timestamp.
func (g *StoredRows) Names(i int) (names []string) {
	s := scanner{data: g.data, pos: g.Rows[i].start}
	_ = s.members(func(name, value *token) { // add has read the row without an error
		text := s.data[name.start:name.end]
		if name.escaped {
			text, _ = unescape(nil, text)
		}
		if n := string(text); value.kind != tokNull && IsOwnName(n) {
			names = append(names, n)
		}
	})
	return names
}

// AddFrom adds the first row of other, which must have one, and returns its index in Rows.
func (g *StoredRows) AddFrom(other *StoredRows) int {
	row := other.Rows[0]
	row.start += len(g.data)
	g.data = append(g.data, other.data...)
	g.Rows = append(g.Rows, row)
	return len(g.Rows) - 1
}

// add appends body to g.data and the rows that read finds in it to g.Rows. On error g is
// not changed.
func (g *StoredRows) add(body []byte, read func(*scanner) error) error {
	from, rows := len(g.data), len(g.Rows)
	g.data = append(g.data, body...)
	s := scanner{data: g.data, pos: from}
	var err error
	if uint64(len(g.data)) > maxBody {
		s.fail(from, tooLong)
		err = s.err
	} else {
		err = read(&s)
	}
	if err != nil {
		g.data, g.Rows = g.data[:from], g.Rows[:rows]
		s.err.Offset -= from
	}
	return err
}

// row reads one row: its position, and the texts that are not properties of the entity.
func (s *scanner) row(g *StoredRows) error {
	s.skipSpace()
	r := StoredRow{start: s.pos}
	if err := s.members(func(name, value *token) {
		if value.kind == tokString {
			r.addText(s.data[name.start:name.end], s.data[value.start:value.end], value.escaped)
		}
	}); err != nil {
		return err
	}
	g.Rows = append(g.Rows, r)
	return nil
}

// members reads an object and calls f with each of its members.
func (s *scanner) members(f func(name, value *token)) error {
	var name, value token // once, because f could keep them
	s.list('{', '}', func() bool {
		name, value = token{}, token{}
		if !s.name(&name) || !s.value(&value, 1) {
			return false
		}
		f(&name, &value)
		return true
	})
	return s.failed()
}

// addText keeps a text that is not a property of the entity: a key, a control member, or
// a property with a reserved name.
func (r *StoredRow) addText(name, value []byte, escaped bool) {
	text := func() string {
		if escaped {
			value, _ = unescape(make([]byte, 0, len(value)), value)
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
		if IsReserved(string(name)) && !isPiece(string(name)) && !bytes.HasSuffix(name, []byte(annotationSuffix)) {
			r.reserved = append(r.reserved, reservedText{string(name), text()})
		}
	}
}

// A JoinSpec describes an entity that Codec.Join joins from rows.
type JoinSpec struct {
	Use    []int          // the rows, as indexes in StoredRows.Rows
	Splits map[string]int // the number of pieces of each property that has several
	Only   []string       // the properties to read, nil for all
	Place  keys.Key       // for which encrypted values were encrypted
}

// Join joins one entity from rows of g, no two of which have the same property, and reads
// it into *dst as DecodeEntity does. The caller has zeroed *dst. Properties with reserved
// names are dropped. Fields and map entries for keys, ETag and Timestamp stay empty;
// SetKeys sets the keys. The codec must be from SplitCodecFor.
//
// A missing piece is a *types.PropertyError. Join does not change g.
func (c *Codec) Join(g *StoredRows, spec JoinSpec, dst any, unknown *Unknown) error {
	d := c.decoder(g.data)
	defer c.release(d)
	d.place = placeOf(spec.Place)
	d.begin()
	at, kept := 0, 0
	own := firstFieldSlot + len(c.plan.fields)
	for _, i := range spec.Use {
		d.pos = g.Rows[i].start
		if !d.takeMembers(&at) {
			return d.err
		}
		// Every row has these.
		clear(d.toks[:firstFieldSlot])
		clear(d.toks[own:c.plan.slots])
		kept = d.dropReserved(kept)
	}
	if err := d.joinPieces(spec.Splits); err != nil {
		return err
	}
	d.restrict(spec.Only)
	var m Meta
	v := reflect.ValueOf(dst).Elem()
	err := d.assign(v, &m)
	if err == nil && (unknown != nil || c.plan.open()) {
		err = d.assignUnknown(v, unknown, &m)
	}
	d.buffer.Reset()
	return err
}

// dropReserved removes the properties with reserved names, except pieces, from d.unknown,
// beginning at index from. It returns how many properties remain.
func (d *decoder) dropReserved(from int) int {
	kept := d.unknown[:from]
	for _, slot := range d.unknown[from:] {
		name := d.names[int(slot)-d.plan.slots]
		if IsReserved(name) && !isPiece(name) {
			d.toks[slot] = token{}
			continue
		}
		kept = append(kept, slot)
	}
	d.unknown = kept
	return len(kept)
}

// restrict removes the pieces, and the properties that are not in only if that is not nil.
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
	d.unknown = slices.DeleteFunc(d.unknown, func(slot int32) bool {
		name := d.names[int(slot)-d.plan.slots]
		return IsReserved(name) || only != nil && !asked[name]
	})
}

// joinPieces makes one text of the pieces of each property.
func (d *decoder) joinPieces(splits map[string]int) error {
	for name, n := range splits {
		first := d.tokenOf(name)
		d.data = append(d.data, '"') // Unknown keeps texts with their quotes
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
				return &types.PropertyError{Property: name, Want: "all its pieces", Got: "another number of them", Err: azerr.ErrBadReply}
			}
			d.data = append(d.data, d.data[t.start:t.end]...)
			joined.escaped = joined.escaped || t.escaped
		}
		if uint64(len(d.data)) > maxBody {
			return &types.PropertyError{Property: name, Want: "less than 2 GiB", Got: "more", Err: azerr.ErrTooLarge}
		}
		joined.start, joined.end = uint32(start), uint32(len(d.data))
		d.data = append(d.data, '"')
		*first = joined
	}
	return nil
}

// tokenOf returns the value of a property in the row, nil if it has none.
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
