package edm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// DecodeEntity reads the body of one entity into *dst, a value of the codec's type that
// the caller has zeroed, and into m. Properties that the type has no field for are stored
// in unknown, or only validated if unknown is nil. A null is treated as absent: the field is not
// changed. Rows written by other clients can be read too: see Codec.
//
// Errors are a *MalformedError for text that is not valid JSON or not an entity, which
// includes duplicate properties, and a *types.PropertyError for a value that its field cannot
// store. dst may then be partly filled.
func (c *Codec) DecodeEntity(body []byte, dst any, m *Meta, unknown *Unknown) error {
	d := c.decoder(body)
	defer c.release(d)
	if !d.start('{') {
		return d.err
	}
	if _, err := d.entity(dst, m, unknown); err != nil {
		return err
	}
	d.atEnd()
	return d.failed()
}

// DecodeAppended is DecodeEntity for a row that shows all types, although it may lack metadata, as
// one does that this package has encoded.
func (c *Codec) DecodeAppended(body []byte, dst any, m *Meta, unknown *Unknown) error {
	d := c.decoder(body)
	defer c.release(d)
	d.level = levelTyped
	if !d.start('{') || !d.object() || !d.atEnd() {
		return d.err
	}
	return d.store(dst, m, unknown)
}

// DecodeWritten is DecodeEntity for an entity that a program has written, not the service: a
// body of an insert, or a line of an export. It must have both keys, and nothing that would
// change unnoticed: no invalid Unicode, no number without an annotation that is whole and not
// an Edm.Int32, no time with more than seven digits of a second. As the service does, it
// accepts annotated numbers as text.
func (c *Codec) DecodeWritten(body []byte, dst any, m *Meta, unknown *Unknown) error {
	d := c.decoder(body)
	defer c.release(d)
	d.level, d.written = levelTyped, true
	if !d.start('{') || !d.object() || !d.atEnd() {
		return d.err
	}
	if !utf8.Valid(body) || bytes.IndexByte(body, '\\') >= 0 && !pairedSurrogates(body) {
		return &MalformedError{Reason: "invalid Unicode"}
	}
	if d.toks[slotPartitionKey].kind != tokString {
		return &MalformedError{Reason: "PartitionKey is missing or not a string"}
	}
	if d.toks[slotRowKey].kind != tokString {
		return &MalformedError{Reason: "RowKey is missing or not a string"}
	}
	for i := range d.toks {
		d.readNumber(&d.toks[i])
	}
	for _, slot := range d.unknown {
		if t := &d.toks[slot]; !d.exact(t) {
			return &types.PropertyError{Property: d.names[int(slot)-d.plan.slots], Want: "a value that its type represents exactly", Got: "another one"}
		}
	}
	return d.store(dst, m, unknown)
}

// readNumber makes text with the annotation of a number a number.
func (d *decoder) readNumber(t *token) {
	if t.kind != tokString || t.edm != Int32 && t.edm != Double {
		return
	}
	s := scanner{data: d.data[t.start:t.end]}
	var n token
	if len(s.data) > 0 && s.value(&n, 0) && n.kind == tokNumber && s.atEnd() {
		t.kind, t.integer = n.kind, n.integer
	}
}

// exact reports whether a property without a field keeps its value.
func (d *decoder) exact(t *token) bool {
	raw := d.data[t.start:t.end]
	switch t.wireType(raw) {
	case Double:
		return t.edm != 0 || !t.integer
	case DateTime:
		at, ok := parseDateTime(d.unescaped(t))
		return !ok || at.Nanosecond()%100 == 0
	}
	return true
}

// A decoder reads rows of one type. It remembers the names of earlier rows and their
// order, so that the names of the next row need not be looked up.
type decoder struct {
	scanner
	plan          *plan
	box           *sealed.Box  // of encrypted fields, nil for none
	place         sealed.Place // for which their values were encrypted, zero for that of the row
	opened        []opened     // of the current row
	toks          []token      // by slot: those of the plan, then those of names
	members       []member     // those of the plan, then those of other names
	order         []int32      // members in the order in which they were seen
	position      []int32      // of a member in order, -1 if it was never seen
	dynamicFields              // members that the plan does not have
	textBytes     int          // bytes that the buffer needs
	buffer        strings.Builder
	scratch       []byte
	chunk         []byte  // what is left of the memory for unknown properties
	chunkSize     int     // of the last chunk
	boxed         any     // the last Edm.Int64 of a map, because neighbours are often equal
	partition     *string // the key of rows that do not contain theirs
	level         metadataLevel
	unusual       []int        // fields of the current row that noteRow looks at
	types         []storedType // of the current row
	written       bool         // by a program, not by the service
	kept          []byte       // of the current row, see [notes]
	shared        *notes       // of an earlier row, shared by rows that have the same types
	row           notes        // of the current row, while a value is tried
	writer        encoder      // to try how values are written
	json          *json.Encoder
	jsonText      bytes.Buffer // that json writes to
	meta          Meta         // used if the caller passes nil
	rowTypes      []rowType    // that a Chooser has chosen since the decoder was taken
	rowType       int          // of the last row
	time          time.Time    // to be copied into a field
	timeVal       reflect.Value
}

func newDecoder(p *plan) *decoder {
	d := &decoder{plan: p}
	d.timeVal = reflect.ValueOf(&d.time).Elem()
	d.reset()
	return d
}

func (c *Codec) decoder(body []byte) *decoder {
	d := c.decoders.Get().(*decoder)
	d.scanner = scanner{data: body}
	d.level, d.written = levelUnknown, false
	return d
}

// release puts d back into the pool, without references to memory of the caller.
func (c *Codec) release(d *decoder) {
	d.scanner = scanner{}
	d.buffer.Reset()
	d.meta = Meta{}
	d.partition, d.place = nil, sealed.Place{}
	d.chunk, d.chunkSize = nil, 0
	clear(d.opened)
	for _, t := range d.rowTypes {
		t.codec.release(t.decoder)
	}
	clear(d.rowTypes)
	d.rowTypes, d.rowType = d.rowTypes[:0], 0
	c.decoders.Put(d)
}

// start checks that the body begins with the character c.
func (d *decoder) start(c byte) bool {
	if uint64(len(d.data)) > maxBody {
		return d.fail(0, tooLong)
	}
	if d.peek() != c {
		return d.unexpected()
	}
	return true
}

// entity reads the object at pos into *dst, or into what dst chooses. It returns the decoder
// that has its tokens.
func (d *decoder) entity(dst any, m *Meta, unknown *Unknown) (row *decoder, err error) {
	row = d
	at := d.pos
	if c, ok := dst.(Chooser); !ok {
		if !d.object() {
			return d, d.err
		}
	} else if row, dst, err = d.choose(c); err != nil {
		return d, err
	}
	if m != nil && m.Sent != nil {
		*m.Sent = bytes.Clone(d.data[at:d.pos])
	}
	return row, row.store(dst, m, unknown)
}

// store stores the tokens in *dst; a nil dst receives nothing.
func (d *decoder) store(dst any, m *Meta, unknown *Unknown) error {
	if m == nil {
		m = &d.meta
	}
	defer d.buffer.Reset()
	if dst == nil {
		if unknown != nil {
			*unknown = Unknown{}
		}
		d.buffer.Grow(d.textBytes)
		return d.assignMeta(m)
	}
	v := reflect.ValueOf(dst).Elem()
	if v.Type() != d.plan.typ {
		return &FieldError{Type: v.Type().String(), Reason: "is not " + d.plan.typ.String()}
	}
	err := d.assign(v, m)
	if err != nil {
		*m = Meta{}
		_ = d.assignMeta(m) // the caller may recognize the row by its keys
	}
	if unknown != nil || d.plan.open() {
		err = cmp.Or(err, d.assignUnknown(v, unknown, m))
	}
	return err
}

// object reads the object at pos into toks.
func (d *decoder) object() bool {
	d.begin()
	at := 0
	return d.takeMembers(&at)
}

// begin prepares d for an entity.
func (d *decoder) begin() {
	if len(d.members) > len(d.plan.members)+2*d.plan.maxDynamic() {
		d.reset()
	}
	clear(d.toks)
	d.unknown = d.unknown[:0]
	d.unknownTypes = d.unknownTypes[:0]
	d.textBytes = 0
}

// takeMembers reads the object at pos. *at is the index in d.order of the member that is
// expected next.
func (d *decoder) takeMembers(at *int) bool {
	d.pos++
	if d.peek() == '}' {
		d.pos++
		return true
	}
	for {
		m := d.matchExpected(at)
		switch {
		case m == nil:
			if !d.lookUpMember(at) {
				return false
			}
		case m.use == useValue:
			if !d.takeValue(m) {
				return false
			}
		case m.use == useType:
			if !d.annotate(m, m.edm) {
				return false
			}
		case m.use == useNothing:
			if !d.take(m) {
				return false
			}
		}
		if d.pos < len(d.data) && d.data[d.pos] == ',' {
			d.pos++
		} else {
			switch d.peek() {
			case ',':
				d.pos++
			case '}':
				d.pos++
				return true
			default:
				return d.unexpected()
			}
		}
		if d.pos < len(d.data) && d.data[d.pos] <= ' ' {
			d.skipSpace()
		}
	}
}

// matchExpected returns the member at pos and reads its literal, if it is one of the next
// members that earlier rows had here and has the spacing of the service. Otherwise it
// returns nil.
func (d *decoder) matchExpected(at *int) *member {
	rest := d.data[d.pos:]
	for i := *at; i < len(d.order) && i < *at+3; i++ {
		if m := &d.members[d.order[i]]; m.begins(rest) {
			d.pos += len(m.literal)
			*at = i + 1
			return m
		}
	}
	return nil
}

// lookUpMember reads a member whose name has to be looked up.
func (d *decoder) lookUpMember(at *int) bool {
	var name token
	if !d.name(&name) {
		return false
	}
	text := d.unescaped(&name)
	i, known := d.plan.index[string(text)]
	if !known {
		if i, known = d.index[string(text)]; !known {
			return d.addName(&name, text, *at)
		}
	}
	if d.position[i] < 0 {
		d.addToOrder(i, *at)
	}
	if d.position[i] >= 0 {
		*at = int(d.position[i]) + 1
	}
	return d.take(&d.members[i])
}

// addToOrder inserts member i into the order before the member that was expected here.
func (d *decoder) addToOrder(i int32, at int) {
	if d.members[i].literal == "" || len(d.order) > len(d.plan.members)+2*d.plan.maxDynamic() {
		return
	}
	if d.plan.wide {
		// Each row of an entity has different names, after those that all rows have.
		at = len(d.order)
	}
	d.order = slices.Insert(d.order, at, i)
	for j := at; j < len(d.order); j++ {
		d.position[d.order[j]] = int32(j)
	}
}

// take reads the value of member m after its name.
func (d *decoder) take(m *member) bool {
	at := d.pos
	switch m.use {
	case useValue:
		return d.takeValue(m)
	case useType:
		var t token
		if !d.value(&t, 1) {
			return false
		}
		if t.kind != tokString {
			return d.fail(at, "an annotation that is not a string")
		}
		edm := typeNamed(d.unescaped(&t))
		if edm == edmUnknown {
			d.unknownTypes = append(d.unknownTypes, unknownType{m.slot, t.start, t.end})
		}
		return d.annotate(m, edm)
	default:
		var t token
		return d.value(&t, 1)
	}
}

func (d *decoder) takeValue(m *member) bool {
	t := &d.toks[m.slot]
	if t.kind != tokNone {
		return d.fail(d.pos, "a duplicate member")
	}
	if d.pos < len(d.data) && d.data[d.pos] == '"' {
		if !d.text(t) {
			return false
		}
	} else if !d.value(t, 1) {
		return false
	}
	if m.text && t.kind == tokString {
		d.textBytes += int(t.end - t.start)
	}
	if int(m.slot) >= d.plan.slots {
		d.unknown = append(d.unknown, m.slot)
	}
	return true
}

func (d *decoder) annotate(m *member, edm Type) bool {
	t := &d.toks[m.slot]
	if t.edm != 0 {
		return d.fail(d.pos, "a duplicate annotation")
	}
	t.edm = edm
	return true
}

// unescaped returns the text of a string token, in scratch if it has escapes.
func (d *decoder) unescaped(t *token) []byte {
	raw := d.data[t.start:t.end]
	if !t.escaped {
		return raw
	}
	text, whole := unescape(d.scratch[:0], raw)
	d.scratch = text
	if !whole {
		return raw
	}
	return text
}
