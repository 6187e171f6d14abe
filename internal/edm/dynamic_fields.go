package edm

import "bytes"

// maxDynamicFields is how many names a decoder remembers besides those of its type. A row
// has at most 252, so only a table of many kinds of rows has more.
const maxDynamicFields = 512

// maxDynamicWide is the same for entities that take several rows.
const maxDynamicWide = 1 << 15

func (p *plan) maxDynamic() int {
	if p.wide {
		return maxDynamicWide
	}
	return maxDynamicFields
}

// dynamicFields are the members that rows have and the type does not.
type dynamicFields struct {
	index        map[string]int32 // to members
	names        []string         // of slots, from plan.slots on
	unknown      []int32          // slots that the row has a value for, in the order of the row
	unknownTypes []unknownType
}

// An unknownType is the position of an annotation that does not name a known type.
type unknownType struct {
	slot       int32
	start, end uint32
}

// reset removes the names that the plan does not have.
func (d *decoder) reset() {
	p := d.plan
	d.members = p.members[:len(p.members):len(p.members)]
	d.toks = make([]token, p.slots)
	d.order = nil
	d.position = make([]int32, len(p.members))
	for i := range d.position {
		d.position[i] = -1
	}
	d.dynamicFields = dynamicFields{index: map[string]int32{}}
}

// addName reads a member with a new name and remembers the name. Of a control member,
// and of a member whose name is not valid text, only the syntax is checked.
func (d *decoder) addName(token *token, text []byte, at int) bool {
	if token.escaped && !pairedSurrogates(d.data[token.start:token.end]) {
		return d.take(&member{use: useNothing})
	}
	name := string(text)
	m := member{name: name}
	if !token.escaped {
		m.setLiteral(`"` + name + `":`)
	}
	base, note := bytes.CutSuffix([]byte(name), []byte(annotationSuffix))
	switch {
	case isControl(base) || len(base) == 0:
		m.use = useNothing
	case note:
		m.use = useType
		m.slot = d.slotFor(string(base))
	default:
		m.text = d.plan.open()
		m.slot = d.slotFor(name)
	}
	i := int32(len(d.members))
	d.index[name] = i
	d.members = append(d.members, m)
	d.position = append(d.position, -1)
	from := d.pos
	ok := d.take(&m)
	if m.use == useType {
		// From now on one comparison matches the annotation and its type.
		d.completeAnnotation(&d.members[i], from)
	}
	if ok {
		d.addToOrder(i, at)
	}
	return ok
}

// slotFor returns the slot of a property without a field. The slot is created when the
// property, or its annotation, is first seen.
func (d *decoder) slotFor(name string) int32 {
	for _, other := range [2]string{name, name + annotationSuffix} {
		if i, ok := d.index[other]; ok {
			return d.members[i].slot
		}
	}
	d.names = append(d.names, name)
	d.toks = append(d.toks, token{})
	return int32(len(d.toks) - 1)
}

// completeAnnotation adds the type that was just read to an annotation's literal.
func (d *decoder) completeAnnotation(m *member, from int) {
	m.edm = d.toks[m.slot].edm
	if value := d.data[from:d.pos]; m.literal != "" && m.edm != edmUnknown && string(value) == `"`+m.edm.String()+`"` {
		m.setLiteral(m.literal + string(value))
		return
	}
	m.setLiteral("")
}
