package edm

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/jsonmerge"
)

// notes are how a row stores properties that its Go value has too, as far as Append would write
// them differently: with another type, with another text for the same value, or although the
// row lacks them. Append writes such a property as it was read if the Go value still has the
// value that was read. So a program that changes one property of a row leaves the others as
// they are.
type notes struct {
	types []storedType
	kept  []byte                   // members with the texts, each after a comma; nil for none
	later *atomic.Pointer[version] // that was written last; nil for notes that rows share
}

// noteRow returns the notes of the row that was decoded into v, nil for none. Rows of which no text
// is kept share them.
func (d *decoder) noteRow(v reflect.Value) *notes {
	d.types, d.kept = d.types[:0], d.kept[:0]
	for _, i := range d.unusual {
		if t := &d.toks[firstFieldSlot:][i]; t.kind != tokNone && t.kind != tokNull {
			if !d.noteSealed(i, v) {
				d.note(i, t, v)
			}
		} else if !d.plan.looks[i].zeroOmitted {
			d.types = append(d.types, storedType{d.plan.fields[i].name, absent})
		}
	}
	if d.plan.open() {
		d.noteMap()
	}
	if len(d.types) == 0 && len(d.kept) == 0 || d.untyped() {
		return nil
	}
	shared := d.sharedNotes()
	if len(d.kept) == 0 {
		return shared
	}
	var own struct { // one allocation
		notes
		later atomic.Pointer[version]
	}
	n := &own
	n.notes = notes{types: shared.types, kept: append(d.room(len(d.kept)), d.kept...), later: &n.later}
	return &n.notes
}

// sharedNotes returns notes with the types of the row. Rows that have the same ones share the
// result, also if they are in different replies.
func (d *decoder) sharedNotes() *notes {
	if d.shared != nil && slices.Equal(d.types, d.shared.types) {
		return d.shared
	}
	if d.shared = d.plan.notes.Load(); d.shared == nil || !slices.Equal(d.types, d.shared.types) {
		d.shared = &notes{types: slices.Clone(d.types)}
		d.plan.notes.Store(d.shared)
	}
	return d.shared
}

// noteMap notes the properties in the map for those without a field. Their types are noted
// because a value from JSON, such as a float64, does not show its type.
func (d *decoder) noteMap() {
	for _, slot := range d.unknown {
		t, name := &d.toks[slot], d.names[int(slot)-d.plan.slots]
		if t.kind == tokNull || IsReserved(name) && !d.plan.withReserved {
			continue
		}
		edm := t.wireType(d.data[t.start:t.end])
		if edm > Boolean && edm < edmUnknown && !d.plan.onlyProperties {
			d.types = append(d.types, storedType{name, edm})
		}
		if d.acceptable(edm, t) && !d.plainAs(edm, t) && !d.rewrites(name, t) {
			d.kept = d.appendMember(d.kept, name, slot, t)
		}
	}
}

// rewrites reports whether a value in a map is written with the text that the row has.
func (d *decoder) rewrites(name string, t *token) bool {
	value, err := d.goValue(name, t, d.plan.sdkTypes)
	if err != nil {
		return false
	}
	w := d.trial()
	return w.mapValue(name, value) == nil && d.sameMember(w.dst, t)
}

// note notes the property of field i, whose value in the row is t and in entity was decoded.
func (d *decoder) note(i int, t *token, entity reflect.Value) {
	f := &d.plan.fields[i]
	stored := d.storedType(f, t)
	if stored != 0 {
		d.types = append(d.types, storedType{f.name, stored})
	} else if stored = t.wireType(d.data[t.start:t.end]); f.declared && stored != f.edm {
		return // the property is to have the declared type
	}
	v, ok := f.get(entity)
	if !ok || !d.acceptable(stored, t) || d.writes(f, t, stored, v, entity) {
		return
	}
	d.kept = d.appendMember(d.kept, f.name, int32(firstFieldSlot+i), t)
}

// acceptable reports whether the service accepts the text of t again. It does if the text came from the service as it sends that
// type. A program may have written a time with an offset, or with more decimals than are stored.
func (d *decoder) acceptable(edm Type, t *token) bool {
	switch {
	case edm == Int64:
		return t.kind == tokString
	case d.written && edm == Int32:
		return t.integer
	case d.written && edm == DateTime:
		const seconds = len("2006-01-02T15:04:05.")
		text := d.unescaped(t)
		return text[len(text)-1] == 'Z' && (len(text) < seconds || digits(text, seconds)-seconds <= 7)
	}
	return true
}

// writes reports whether Append writes v, the value of f that was decoded from t, with the
// text of t as the type stored.
func (d *decoder) writes(f *field, t *token, stored Type, v, entity reflect.Value) bool {
	if f.optional && f.omitted(v) {
		return false
	}
	fixed := f.annotationAt == 0
	switch f.shape {
	case shapeText, shapeJSON, shapeScalar, shapeLiteral:
		fixed = false
	case shapeString:
		fixed = fixed && stored == String
	case shapeFloat:
		fixed = fixed && f.bits == 64 && stored != String
	case shapeInt, shapeUint:
		fixed = fixed && stored != Double
	case shapeTime, shapeEDMTime:
		fixed = fixed && (stored == String || !f.timeOf(v).IsZero())
	}
	switch {
	case fixed && stored == String && f.shape != shapeString:
		if !t.escaped {
			return plainText(f.shape, d.data[t.start:t.end])
		}
	case fixed && d.plainAs(stored, t):
		return true
	case f.shape == shapeJSON:
		return d.writesJSON(t, v)
	}
	return d.tries(f, t, v, entity)
}

// plainText reports whether the text of a value of that shape, stored as an Edm.String, is the one
// that Append writes.
func plainText(s shape, raw []byte) bool {
	switch s {
	case shapeBool:
		return true
	case shapeInt, shapeUint:
		return plainInt(raw)
	case shapeTime, shapeEDMTime:
		return plainTime(raw, 9)
	case shapeGUID, shapeEDMGUID:
		return plainGUID(raw)
	case shapeBytes:
		return plainBase64(raw)
	}
	return false
}

// A look is what assign needs of a field for the notes. Most values need no more than a look at their token.
type look struct {
	usual       Type // with which the value is written; 0 if the token alone does not show how
	optional    bool // may be omitted
	zeroOmitted bool // the zero value is omitted
}

// plain reports whether Append writes the field with the text and the type of t. It judges by the
// token alone and returns false if in doubt. It is called for every value that is read.
func (d *decoder) plain(l *look, t *token) bool {
	raw := d.data[t.start:t.end]
	switch l.usual {
	case String:
		return t.kind == tokString && (t.edm == 0 || t.edm == String) && (len(raw) > 0 || !l.optional)
	case Boolean:
		return t.edm == 0 && (t.kind == tokTrue || t.kind == tokFalse && !l.optional)
	case Int32:
		if t.kind != tokNumber || t.edm != 0 || !t.integer || len(raw) >= 10 {
			return false
		}
	case Int64:
		if t.kind != tokString || t.edm != Int64 || len(raw) == 0 {
			return false
		}
	case Double:
		return t.kind == tokNumber && (t.edm == 0 || t.edm == Double) && plainDouble(t, raw) && !(l.optional && maybeZero(raw))
	case DateTime:
		if t.edm == DateTime && !t.escaped && len(raw) > 0 && raw[0] > '1' {
			return plainTime(raw, 7)
		}
		return t.edm == DateTime && d.plainAs(DateTime, t)
	case Guid:
		return t.edm == Guid && !t.escaped && plainGUID(raw)
	case Binary:
		return t.edm == Binary && !t.escaped && plainBase64(raw) && (len(raw) > 0 || !l.optional)
	default:
		return false
	}
	return raw[0]-'1' < 9 || plainInt(raw) && !(l.optional && maybeZero(raw))
}

// maybeZero reports whether a number may be zero, which an optional field omits.
func maybeZero(raw []byte) bool { return raw[0] == '0' || raw[0] == '-' }

// plainAs reports whether the text of t is the one that Append writes for its value as the type
// edm. It returns false if in doubt.
func (d *decoder) plainAs(edm Type, t *token) bool {
	raw := d.data[t.start:t.end]
	switch edm {
	case String:
		return t.kind == tokString
	case Boolean:
		return true
	case Int32:
		return t.kind == tokNumber && t.integer && len(raw) < 10 && plainInt(raw)
	case Int64:
		return t.kind == tokString && plainInt(raw)
	case Double:
		return t.kind == tokNumber && plainDouble(t, raw)
	case DateTime:
		return !t.escaped && plainTime(raw, 7) && raw[0] > '0' && (raw[0] > '1' || string(raw[:4]) >= firstYear)
	case Guid:
		return !t.escaped && plainGUID(raw)
	case Binary:
		return !t.escaped && plainBase64(raw)
	}
	return false
}

// trial returns an encoder for a value that was decoded, to see how it is written.
func (d *decoder) trial() *encoder {
	d.writer = encoder{dst: d.writer.dst[:0], scratch: d.writer.scratch, unlimited: true}
	return &d.writer
}

// tries is [decoder.writes] by encoding the value. The methods of its type may panic.
func (d *decoder) tries(f *field, t *token, v, entity reflect.Value) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	w := d.trial()
	w.notes = &d.row
	d.row.types = d.types
	return w.property(d.plan, f, v, entity) == nil && d.sameMember(w.dst, t)
}

// writesJSON is [decoder.writes] for a field that is stored as JSON.
func (d *decoder) writesJSON(t *token, v reflect.Value) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	if d.json == nil {
		d.json = json.NewEncoder(&d.jsonText)
	}
	d.jsonText.Reset()
	if err := d.json.Encode(v.Interface()); err != nil {
		return false
	}
	return bytes.Equal(bytes.TrimSuffix(d.jsonText.Bytes(), []byte("\n")), d.unescaped(t))
}

// sameMember reports whether the member, as it is appended to a row, has the type and the text
// of t.
func (d *decoder) sameMember(member []byte, t *token) (same bool) {
	eachMember(member, func(p unknownProperty) {
		text := d.data[t.start:t.end]
		if p.tok.kind != t.kind || p.tok.wireType(p.value) != t.wireType(text) {
			return
		}
		value := p.value
		if p.tok.escaped {
			value, _ = unescape(nil, value)
		}
		same = bytes.Equal(value, d.unescaped(t))
	})
	return same
}

// typeOf returns the type with which the row stores the property, 0 if there is no note of it.
func (w *encoder) typeOf(name string) Type {
	if w.notes == nil {
		return 0
	}
	// Properties are mostly written in the order of the notes.
	types := w.notes.types
	for n := range types {
		if n += w.next; n >= len(types) {
			n -= len(types)
		}
		if types[n].name == name {
			w.next = n + 1
			return types[n].edm
		}
	}
	return 0
}

// keptOf returns the property as the row stores it, nil if its text is not kept.
func (w *encoder) keptOf(name string) *unknownProperty {
	if w.notes == nil || len(w.notes.kept) == 0 {
		return nil
	}
	if w.kept == nil {
		eachMember(w.notes.kept, func(p unknownProperty) { w.kept = append(w.kept, p) })
	}
	for i := range w.kept {
		if string(w.kept[i].name) == name {
			return &w.kept[i]
		}
	}
	return nil
}

// isAbsent reports whether the row does not have the property, and v is the zero value that was
// read instead.
func (w *encoder) isAbsent(f *field, v reflect.Value) bool {
	return w.notes != nil && !w.named && w.typeOf(f.name) == absent && v.IsZero() && !hasNegativeZero(v)
}

// keep writes the property of f as the row stores it, which is k, or with as much of its text as
// the value v permits. ok is false if v has no value. It returns false if it has written nothing,
// because nothing of the text can be kept.
func (w *encoder) keep(p *plan, f *field, k *unknownProperty, v reflect.Value, ok bool, entity reflect.Value) (done bool, err error) {
	read := reflect.New(f.typ).Elem()
	was := read
	if f.ptr {
		was = allocate(read)
	}
	d := decoder{plan: p, level: levelTyped, scanner: scanner{data: w.notes.kept}}
	d.timeVal = reflect.ValueOf(&d.time).Elem()
	if !d.set(f, &k.tok, was) {
		return false, nil // another Go type
	}
	types := w.notes.types
	before, err1 := k.alone(p, f, types, was, reflect.Value{})
	var now []byte
	var err2 error
	if ok {
		now, err2 = k.alone(p, f, types, v, entity)
	}
	switch {
	case err1 != nil && err2 != nil && reflect.DeepEqual(was.Interface(), v.Interface()):
	case err1 != nil || err2 != nil:
		return false, nil
	case !bytes.Equal(before, now) && f.merge != nil && ok:
		merged, fits := f.merge(f, p, k, types, was, v)
		if !fits {
			return false, nil
		}
		if w.split != nil {
			w.begin(f.name)
		}
		write(w, f.prefix)
		return true, w.text(f, merged)
	case !bytes.Equal(before, now):
		return false, nil
	}
	return true, w.member(*k)
}

// alone returns what is written for one value of f, in a row that has the property as k and stores
// others with types. An invalid entity means the row itself.
func (k *unknownProperty) alone(p *plan, f *field, types []storedType, v, entity reflect.Value) ([]byte, error) {
	if f.optional && f.omitted(v) {
		return nil, nil
	}
	one := encoder{notes: &notes{types: types}, unlimited: true}
	f = f.zonedAs(k)
	var err error
	switch {
	case entity.IsValid() || f.annotationAt == 0:
		err = one.property(p, f, v, entity)
	case k.tok.edm == 0:
		err = one.field(f, v)
	default:
		err = one.annotatedText(f, v.String(), k.tok.edm.String())
	}
	return one.dst, err
}

// zonedAs returns the field as it is written if the row stores it as k: a time keeps its zone if
// the text has one.
func (f *field) zonedAs(k *unknownProperty) *field {
	if f.shape != shapeTime || !k.hasZone() {
		return f
	}
	zoned := *f
	zoned.zoned = true
	return &zoned
}

// hasZone reports whether the text of a time ends with an offset instead of Z.
func (p *unknownProperty) hasZone() bool {
	return p.tok.kind == tokString && p.tok.wireType(p.value) == String && len(p.value) > 0 && p.value[len(p.value)-1] != 'Z'
}

// member writes a property as it was read.
func (w *encoder) member(p unknownProperty) error {
	if w.split != nil {
		w.begin(string(p.name))
		return w.splitUnknown(p)
	}
	size, err := p.size()
	if err == nil {
		w.sizer.count(propertyName{raw: p.name}, nameSize(p.name)+size)
		w.dst = append(w.dst, p.member...)
	}
	return err
}

// mergeJSON returns the text of a field that is stored as JSON, as k, and that has changed from before
// to now: with the members that the Go type does not have, and with the text of what has not changed.
// A value that is omitted leaves only the members that the Go type does not have. ok is false if
// nothing of the text can be kept. types are those of all properties of the row.
func (f *field) mergeJSON(p *plan, k *unknownProperty, types []storedType, before, now reflect.Value) (merged string, ok bool) {
	whole := *f
	whole.optional = false // a value that is zero may have members that the Go type does not have
	text := func(member []byte) (text string) {
		eachMember(member, func(p unknownProperty) { text, _ = p.text() })
		return text
	}
	stored, _ := k.text()
	was, _ := k.alone(p, &whole, types, before, reflect.Value{})
	is, _ := k.alone(p, &whole, types, now, reflect.Value{})
	wanted := text(is)
	merge := jsonmerge.Merge
	if f.optional && f.omitted(now) {
		merge = jsonmerge.Rest
	}
	if merged, ok = merge(stored, text(was), wanted); !ok {
		return "", false
	}
	// Whatever the methods of its type do, the merged text must have the value.
	again := func(text string) (string, error) {
		read := reflect.New(f.typ)
		if err := json.Unmarshal([]byte(text), read.Interface()); err != nil {
			return "", err
		}
		encoded, err := json.Marshal(read.Elem().Interface())
		return string(encoded), err
	}
	got, err1 := again(merged)
	want, err2 := again(wanted)
	return merged, err1 == nil && err2 == nil && got == want
}
