package edm

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// DecodeEntity reads the body of one entity into *dst, a value of the codec's type
// that the caller has zeroed, and into m. Properties that the type has no field for
// go to rest, or are only validated when rest is nil. A null is as good as absent:
// the field stays as it is. Rows written by other clients are read too: see Codec.
//
// Errors are a *MalformedError for text that is not legal JSON or not an entity (a
// property that comes twice included), and a *PropertyError for a value that its
// field cannot take. dst may then be filled in part.
func (c *Codec) DecodeEntity(body []byte, dst any, m *Meta, rest *Unknown) error {
	d := c.decoder(body)
	defer c.release(d)
	if !d.start('{') {
		return d.err
	}
	if err := d.entity(dst, m, rest); err != nil {
		return err
	}
	if !d.finish() {
		return d.err
	}
	return nil
}

// A decoder reads rows of one type. It keeps the names that it has seen, and the
// order in which the service sends them, so that the next row's names need not be
// looked up.
type decoder struct {
	scanner
	plan    *plan
	toks    []token  // by slot; those of the plan and then those of names
	members []member // those of the plan and then those of other names
	order   []int32  // members in the order seen
	place   []int32  // of a member in order, -1 when never seen
	learned          // members that the plan does not know
	texts   int      // bytes that the slab needs
	slab    strings.Builder
	scratch []byte
	level   metadataLevel
	meta    Meta      // for a caller that wants none
	time    time.Time // to be copied into a field
	timeVal reflect.Value
}

func newDecoder(p *plan) *decoder {
	d := &decoder{plan: p}
	d.timeVal = reflect.ValueOf(&d.time).Elem()
	d.forget()
	return d
}

func (c *Codec) decoder(body []byte) *decoder {
	d := c.decoders.Get().(*decoder)
	d.scanner = scanner{data: body}
	d.level = levelUnknown
	return d
}

// release gives d back without what it holds of the caller's.
func (c *Codec) release(d *decoder) {
	d.scanner = scanner{}
	d.slab.Reset()
	d.meta = Meta{}
	c.decoders.Put(d)
}

// start takes the character c that the body has to begin with.
func (d *decoder) start(c byte) bool {
	if uint64(len(d.data)) > 1<<31 {
		return d.fail(0, "larger than 2 GiB")
	}
	if d.next() != c {
		return d.unexpected()
	}
	return true
}

// entity reads the object at pos into *dst.
func (d *decoder) entity(dst any, m *Meta, rest *Unknown) error {
	v := reflect.ValueOf(dst).Elem()
	if v.Type() != d.plan.typ {
		return &FieldError{Type: v.Type().String(), Reason: "is not " + d.plan.typ.String()}
	}
	if !d.object() {
		return d.err
	}
	if m == nil {
		m = &d.meta
	}
	err := d.assign(v, m)
	if err == nil && (rest != nil || d.plan.open()) {
		err = d.assignOthers(v, rest, m)
	}
	d.slab.Reset()
	return err
}

// object takes the object at pos apart, into toks.
func (d *decoder) object() bool {
	d.begin()
	at := 0
	return d.takeMembers(&at)
}

// begin makes ready for an entity.
func (d *decoder) begin() {
	if len(d.members) > len(d.plan.members)+2*d.plan.learns() {
		d.forget()
	}
	clear(d.toks)
	d.others = d.others[:0]
	d.odd = d.odd[:0]
	d.texts = 0
}

// takeMembers reads the object at pos. at is where in order its members are
// expected to stand.
func (d *decoder) takeMembers(at *int) bool {
	d.pos++
	if d.next() == '}' {
		d.pos++
		return true
	}
	for {
		m := d.guess(at)
		switch {
		case m == nil:
			if !d.unguessed(at) {
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
			switch d.next() {
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
			d.space()
		}
	}
}

// guess answers which of the members that stood here in earlier rows stands here
// again, and takes its literal. It is nil when none does, or not in the spacing of
// the service.
func (d *decoder) guess(at *int) *member {
	rest := d.data[d.pos:]
	for i := *at; i < len(d.order) && i < *at+3; i++ {
		m := &d.members[d.order[i]]
		if n := len(m.literal); len(rest) >= n && string(rest[:n]) == m.literal {
			d.pos += n
			*at = i + 1
			return m
		}
	}
	return nil
}

// unguessed reads a member whose name has to be looked up.
func (d *decoder) unguessed(at *int) bool {
	if d.next() != '"' {
		return d.unexpected()
	}
	var name token
	if !d.text(&name) || !d.expect(':') {
		return false
	}
	text := d.plain(&name)
	i, known := d.plan.index[string(text)]
	if !known {
		if i, known = d.index[string(text)]; !known {
			return d.newName(&name, text, *at)
		}
	}
	if d.place[i] < 0 {
		d.learn(i, *at)
	}
	if d.place[i] >= 0 {
		*at = int(d.place[i]) + 1
	}
	return d.take(&d.members[i])
}

// learn puts member i into the order, before what was expected at this place.
func (d *decoder) learn(i int32, at int) {
	if d.members[i].literal == "" || len(d.order) > len(d.plan.members)+2*d.plan.learns() {
		return
	}
	if d.plan.wide {
		// Each row of an entity has other names, and before them those that all have.
		at = len(d.order)
	}
	d.order = slices.Insert(d.order, at, i)
	for j := at; j < len(d.order); j++ {
		d.place[d.order[j]] = int32(j)
	}
}

// take reads the value of member m, whose name has been read.
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
		edm := edmNamed(d.plain(&t))
		if edm == edmUnknown {
			d.odd = append(d.odd, oddType{m.slot, t.start, t.end})
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
		return d.fail(d.pos, "a member that comes twice")
	}
	if d.pos < len(d.data) && d.data[d.pos] == '"' {
		if !d.text(t) {
			return false
		}
	} else if !d.value(t, 1) {
		return false
	}
	if m.text && t.kind == tokString {
		d.texts += int(t.end - t.start)
	}
	if int(m.slot) >= d.plan.slots {
		d.others = append(d.others, m.slot)
	}
	return true
}

func (d *decoder) annotate(m *member, edm Type) bool {
	t := &d.toks[m.slot]
	if t.edm != 0 {
		return d.fail(d.pos, "an annotation that comes twice")
	}
	t.edm = edm
	return true
}

// plain is the text of a string token, in scratch if it has escapes.
func (d *decoder) plain(t *token) []byte {
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
