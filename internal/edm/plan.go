package edm

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
)

const (
	partitionKeyName = "PartitionKey"
	rowKeyName       = "RowKey"
	timestampName    = "Timestamp"
	etagName         = "odata.etag"
	maxProperties    = 252
)

// A slot is the index of one member's value while a row is read. The first slots are the
// same for every type.
const (
	slotPartitionKey = iota
	slotRowKey
	slotTimestamp
	slotETag
	slotStamp
	firstFieldSlot
)

// systemNames are the names of the properties that every row has.
var systemNames = [...]string{slotPartitionKey: partitionKeyName, slotRowKey: rowKeyName, slotTimestamp: timestampName}

// A plan describes how a Go type is read and written.
type plan struct {
	typ            reflect.Type
	isMap          bool
	fields         []field       // fields[i] has the slot firstFieldSlot+i
	looks          []look        // of each field
	system         []systemField // fields that are filled and never written
	keys           [2]*field     // by slot; nil for none
	unknown        *field        // takes the properties that have no field
	sdkTypes       bool          // its values have the EDM types of aztables
	withReserved   bool          // the map may have reserved names
	onlyProperties bool          // the map does not have the keys and Timestamp
	wide           bool          // a value may take several rows
	encrypted      string        // Go name of a field that is stored encrypted, "" for none
	slots          int
	members        []member
	index          map[string]int32 // name of a member to its index in members

	notes atomic.Pointer[notes] // of a row that was decoded recently
}

func (p *plan) open() bool { return p.isMap || p.unknown != nil }

// A systemField is filled with a key, a control member or an annotation.
type systemField struct {
	field      field
	slot       int
	annotation bool // filled with the annotation of the slot, not its value
}

type memberUse uint8

const (
	useValue    memberUse = iota // the value of a slot
	useType                      // the annotation of a slot
	useNothing                   // a control member without a field
	skipLiteral                  // the same, with a fixed value
)

// A member is a name that a row may have in JSON.
type member struct {
	literal string // its text up to the value, in the spacing of the service
	head    uint64 // the first eight bytes of literal, if it has 8 to 16
	tail    uint64 // and its last eight
	name    string
	slot    int32
	use     memberUse
	text    bool // its string is copied to the buffer
	edm     Type // of an annotation
}

// setLiteral sets the text of the member up to its value.
func (m *member) setLiteral(text string) {
	m.literal, m.head, m.tail = text, 0, 0
	if n := len(text); 8 <= n && n <= 16 {
		m.head, m.tail = eightBytes(text), eightBytes(text[n-8:])
	}
}

// begins reports whether data begins with the literal of the member.
func (m *member) begins(data []byte) bool {
	n := len(m.literal)
	if len(data) < n {
		return false
	}
	if 8 <= n && n <= 16 { // most names; this is faster than a comparison of strings
		return binary.LittleEndian.Uint64(data) == m.head && binary.LittleEndian.Uint64(data[n-8:]) == m.tail
	}
	return string(data[:n]) == m.literal
}

func newPlan(t reflect.Type, wide bool) (*plan, error) {
	p := &plan{typ: t, wide: wide}
	if t == nil {
		return nil, &FieldError{Type: "nil", Reason: "an entity is a struct or a map[string]any"}
	}
	switch {
	case t.Kind() == reflect.Map && t.ConvertibleTo(mapType):
		p.isMap = true
	case t.Kind() == reflect.Struct:
		if err := p.addStruct(t); err != nil {
			return nil, err
		}
	default:
		return nil, &FieldError{Type: t.String(), Reason: "an entity is a struct or a map[string]any"}
	}
	own := slices.DeleteFunc(slices.Clone(p.fields), func(f field) bool { return f.reserved })
	if len(own) > maxProperties && !wide {
		return nil, &FieldError{Type: t.String(), Field: own[maxProperties].goName,
			Reason: "is property number " + strconv.Itoa(maxProperties+1) + ", an entity has at most 252"}
	}
	for i := range p.fields {
		f := &p.fields[i]
		p.looks = append(p.looks, look{f.usualType(), f.optional, f.omitsZero()})
	}
	for i := range p.system {
		if s := &p.system[i]; s.slot <= slotRowKey {
			p.keys[s.slot] = &s.field
		}
	}
	p.addMembers()
	return p, nil
}

func (p *plan) addStruct(t reflect.Type) error {
	found, err := flatten(t)
	if err != nil {
		return err
	}
	var system []field
	for _, f := range found {
		reason := ""
		switch {
		case f.encrypted && (f.unknown || isSystem(f.name)):
			reason = "the option encrypted is for a property, not for a key or a map of properties"
		case isSystem(f.name):
			system = append(system, f)
			continue
		case f.unknown:
			if p.unknown != nil {
				reason = "only one field may be tagged bag"
			}
			p.unknown, p.withReserved = &f, f.reserved
			p.sdkTypes = f.shape == shapeMap
			f.shape = 0
		default:
			reason = checkName(f.name)
			if reason == "" && IsReserved(f.name) && !f.reserved {
				reason = "names that begin with azp_ are reserved"
			}
			if f.encrypted {
				p.encrypted = f.goName
			}
			if f.name == stampName {
				reason = "the name azp_stamp is reserved"
			}
		}
		if reason == "" {
			if reason = f.resolve(); reason == "" && f.encrypted {
				f.sealed = f.sealedField()
			}
			if f.shape == shapeJSON {
				f.jsonField = jsonField{merge: (*field).mergeJSON, normal: (*field).normalJSON}
			}
		}
		if reason != "" {
			return &FieldError{Type: t.String(), Field: f.goName, Reason: reason}
		}
		if !f.unknown {
			p.fields = append(p.fields, f)
		}
	}
	p.slots = firstFieldSlot + len(p.fields)
	for _, f := range system {
		if reason := p.addSystem(f); reason != "" {
			return &FieldError{Type: t.String(), Field: f.goName, Reason: reason}
		}
	}
	return nil
}

// fieldOf returns the field for a property, nil if the type has none.
func (p *plan) fieldOf(name string) *field {
	i, ok := p.index[name]
	if !ok || p.members[i].use != useValue {
		return nil
	}
	if n := int(p.members[i].slot) - firstFieldSlot; 0 <= n && n < len(p.fields) {
		return &p.fields[n]
	}
	return nil
}

// addMembers builds the table of member names, with the literals that the service sends.
func (p *plan) addMembers() {
	p.slots = max(p.slots, firstFieldSlot)
	p.index = make(map[string]int32)
	quoted := func(name string) string { return `"` + name + `":` }
	add := func(name string, m member) {
		if _, ok := p.index[name]; !ok {
			m.name = name
			m.setLiteral(m.literal)
			p.index[name] = int32(len(p.members))
			p.members = append(p.members, m)
		}
	}
	value := func(name string, slot int, text bool) {
		add(name, member{literal: quoted(name), slot: int32(slot), text: text})
	}
	value(partitionKeyName, slotPartitionKey, true)
	value(rowKeyName, slotRowKey, true)
	value(timestampName, slotTimestamp, false)
	value(etagName, slotETag, true)
	value(stampName, slotStamp, true)
	annotation := func(name string, slot int, edm Type) {
		name += annotationSuffix
		add(name, member{literal: quoted(name) + `"` + edm.String() + `"`, slot: int32(slot), use: useType, edm: edm})
	}
	for i := range p.system {
		s := &p.system[i]
		if s.slot == slotTimestamp && s.field.shape == shapeString {
			p.members[p.index[timestampName]].text = true
		}
		if s.slot >= firstFieldSlot+len(p.fields) {
			value(s.field.name, s.slot, true)
		}
	}
	for i := range p.fields {
		f := &p.fields[i]
		value(f.name, firstFieldSlot+i, f.shape == shapeString || f.shape == shapeEDMGUID)
		annotation(f.name, firstFieldSlot+i, f.storedEDM())
	}
	skip := func(name, value string) {
		m := member{literal: quoted(name) + value, use: useNothing}
		if value != "" {
			m.use = skipLiteral
		}
		add(name, m)
	}
	skip(timestampName+annotationSuffix, `"Edm.DateTime"`)
	for _, name := range []string{partitionKeyName, rowKeyName, stampName} {
		skip(name+annotationSuffix, `"Edm.String"`)
	}
	for _, name := range []string{"odata.metadata", "odata.type", "odata.id", "odata.editLink"} {
		skip(name, "")
	}
}
