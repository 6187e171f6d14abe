package edm

import (
	"bytes"
)

// maxLearned is how many names a decoder keeps beside those of its type. A row has
// at most 252, so only a table of many kinds of rows has more.
const maxLearned = 512

// maxLearnedWide is the same where an entity takes several rows.
const maxLearnedWide = 1 << 15

func (p *plan) learns() int {
	if p.wide {
		return maxLearnedWide
	}
	return maxLearned
}

// learned are the members that the plan has no slot for.
type learned struct {
	index  map[string]int32 // to members
	names  []string         // of slots, from plan.slots on
	others []int32          // slots that the row has a value for, in its order
	odd    []oddType
}

// An oddType is the place of an annotation that names no known type.
type oddType struct {
	slot       int32
	start, end uint32
}

// forget goes back to what the plan knows.
func (d *decoder) forget() {
	p := d.plan
	d.members = p.members[:len(p.members):len(p.members)]
	d.toks = make([]token, p.slots)
	d.order = nil
	d.place = make([]int32, len(p.members))
	for i := range d.place {
		d.place[i] = -1
	}
	d.learned = learned{index: map[string]int32{}}
}

// newName takes a member whose name has not been met before. The value of a control
// member is only read, as is one whose name is no text.
func (d *decoder) newName(token *token, text []byte, at int) bool {
	if token.escaped && !pairedSurrogates(d.data[token.start:token.end]) {
		return d.take(&member{use: useNothing})
	}
	name := string(text)
	m := member{name: name}
	if !token.escaped {
		m.literal = `"` + name + `":`
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
	d.place = append(d.place, -1)
	from := d.pos
	if !d.take(&m) {
		return false
	}
	if m.use == useType {
		// With its type, an annotation is one comparison from now on.
		d.completeNote(&d.members[i], from)
	}
	d.learn(i, at)
	return true
}

// slotFor is the slot of a property without a field, made when it is first met by
// itself or by its annotation.
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

// completeNote adds the type just read to an annotation's literal.
func (d *decoder) completeNote(m *member, from int) {
	m.edm = d.toks[m.slot].edm
	if value := d.data[from:d.pos]; m.literal != "" && m.edm != edmUnknown && string(value) == `"`+m.edm.String()+`"` {
		m.literal += string(value)
		return
	}
	m.literal = ""
}
