package edm

import (
	"reflect"
	"strconv"
)

const (
	partitionKeyName = "PartitionKey"
	rowKeyName       = "RowKey"
	timestampName    = "Timestamp"
	etagName         = "odata.etag"
	maxProperties    = 252
)

// A slot is the place of one member's value while a row is read. The first ones
// are the same for every type.
const (
	slotPartitionKey = iota
	slotRowKey
	slotTimestamp
	slotETag
	slotStamp
	firstFieldSlot
)

// A plan is what is known about a Go type before the first row.
type plan struct {
	typ        reflect.Type
	isMap      bool
	fields     []field       // fields[i] has the slot firstFieldSlot+i
	system     []systemField // fields that are filled and never written
	bag        *field        // takes the properties that have no field
	edmBag     bool          // its values have the EDM types of aztables
	everything bool          // reserved names go to the bag too
	wide       bool          // a value may take several rows
	slots      int
	members    []member
	index      map[string]int32 // name of a member to its place in members
}

func (p *plan) open() bool { return p.isMap || p.bag != nil }

// A systemField is filled from a slot that is not one of its own properties.
type systemField struct {
	field field
	slot  int
	note  bool // the annotation of the slot, not its value
}

type memberUse uint8

const (
	useValue    memberUse = iota // the value of a slot
	useType                      // the annotation of a slot
	useNothing                   // a control member that nobody asked for
	skipLiteral                  // the same, with one well-known value
)

// A member is a name that an entity may have on the wire.
type member struct {
	literal string // what it begins with there, in the spacing of the service
	name    string
	slot    int32
	use     memberUse
	text    bool // its string goes to the slab
	edm     Type // of an annotation
}

func newPlan(t reflect.Type, wide bool) (*plan, error) {
	p := &plan{typ: t, wide: wide}
	if t == nil {
		return nil, &FieldError{Type: "nil", Reason: "an entity is a struct or a map[string]any"}
	}
	switch {
	case t.Kind() == reflect.Map && t.ConvertibleTo(bagType):
		p.isMap = true
	case t.Kind() == reflect.Struct:
		if err := p.addStruct(t); err != nil {
			return nil, err
		}
	default:
		return nil, &FieldError{Type: t.String(), Reason: "an entity is a struct or a map[string]any"}
	}
	if len(p.fields) > maxProperties && !wide {
		return nil, &FieldError{Type: t.String(), Field: p.fields[maxProperties].goName,
			Reason: "is property number " + strconv.Itoa(maxProperties+1) + ", an entity has at most 252"}
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
		case isSystem(f.name):
			system = append(system, f)
			continue
		case f.bag:
			if p.bag != nil {
				reason = "a type has one bag"
			}
			p.bag = &f
			p.edmBag = f.shape == shapeBag
			f.shape = 0
		default:
			reason = checkName(f.name)
			if reason == "" && isReserved(f.name) && !f.reserved {
				reason = "names that begin with azp_ are reserved"
			}
			if f.name == stampName {
				reason = "the name azp_stamp is reserved"
			}
		}
		if reason == "" {
			reason = f.resolve()
		}
		if reason != "" {
			return &FieldError{Type: t.String(), Field: f.goName, Reason: reason}
		}
		if !f.bag {
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

// addMembers makes the table of names, with the literals that the service sends.
func (p *plan) addMembers() {
	p.slots = max(p.slots, firstFieldSlot)
	p.index = make(map[string]int32)
	quoted := func(name string) string { return `"` + name + `":` }
	add := func(name string, m member) {
		if _, ok := p.index[name]; !ok {
			m.name = name
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
	note := func(name string, slot int, edm Type) {
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
		note(f.name, firstFieldSlot+i, f.edm)
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
