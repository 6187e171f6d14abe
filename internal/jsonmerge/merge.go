package jsonmerge

import (
	"encoding/json"
	"strings"
)

// Merge returns stored with the changes that lead from before to now. stored is a text that was
// decoded, before the encoding of the value that was read, and now that of the changed value. ok is
// false if one of them is not JSON. Each text is read once.
//
// A member of stored belongs to the member of before with its name, or with a name that differs
// only in case, as encoding/json decodes it. An element of an array belongs to the element of
// before at its position. Arrays of stored and before with different lengths are not merged: the
// result has the array of now.
//
// An element of now may be new, so it has something of stored only if it is certain which element of
// before it was:
//
//   - It is equal to one, wherever that was. Equal elements are in their order. If there are fewer of
//     them than before, or more, only those keep theirs of which it does not matter or, if there are
//     more, that are at their positions.
//   - It is the only one that differs from the element at its position, in one member if it is an object.
//   - It is an object that differs from one of before in one member, and from all others in more, and at
//     least two of before have the same value of that member. So it is not an id.
func Merge(stored, before, now string) (merged string, ok bool) {
	s, b, n, ok := parseAll(stored, before, now)
	if !ok {
		return "", false
	}
	var out strings.Builder
	out.Grow(len(stored))
	merge(&out, &s, &b, &n)
	return out.String(), true
}

func parseAll(stored, before, now string) (s, b, n nested, ok bool) {
	if !json.Valid([]byte(stored)) || !json.Valid([]byte(before)) || !json.Valid([]byte(now)) {
		return s, b, n, false
	}
	p := parser{ids: map[string]int{}}
	return p.parse(stored), p.parse(before), p.parse(now), true
}

// merge writes stored with the changes from before to now.
func merge(out *strings.Builder, stored, before, now *nested) {
	switch kind := now.kind(); {
	case before.id == now.id:
		out.WriteString(stored.text)
		return
	case stored.kind() != kind || before.kind() != kind:
	case kind == '{':
		mergeObject(out, stored, before, now)
		return
	case kind == '[' && len(stored.parts) == len(before.parts):
		mergeArray(out, stored, before, now)
		return
	}
	out.WriteString(now.text)
}

func mergeObject(out *strings.Builder, stored, before, now *nested) {
	was, is := before.index(), now.index()
	names := stored.namesIn(was, is, before, now)
	effective := map[string]int{} // the last one of several members with one name
	for i, name := range names {
		effective[name] = i
	}
	r := rebuilt{Builder: out, of: stored}
	for i := range stored.parts {
		value, name := &stored.parts[i].value, names[i]
		b, inBefore := was[name]
		n, inNow := is[name]
		switch {
		case inNow && effective[name] != i, !inNow && !inBefore:
			r.part(i)
			out.WriteString(value.text)
		case inNow && inBefore:
			r.part(i)
			merge(out, value, &before.parts[b].value, &now.parts[n].value)
		case inNow:
			r.part(i)
			out.WriteString(now.parts[n].value.text)
		}
	}
	for i := range now.parts {
		part := &now.parts[i]
		if _, ok := effective[part.name]; ok {
			continue
		}
		if b, ok := was[part.name]; !ok || before.parts[b].value.id != part.value.id {
			r.append(part)
		}
	}
	r.close()
}

// namesIn returns for each member of o the name that it has in was or is, the indices of before and now; its own name if it has
// none there.
func (o *nested) namesIn(was, is map[string]int, before, now *nested) []string {
	names := make([]string, len(o.parts))
	var other map[string]string // names by their folded ones
	for i := range o.parts {
		name := o.parts[i].name
		names[i] = name
		if has(was, name) || has(is, name) {
			continue
		}
		if other == nil {
			other = make(map[string]string, len(was)+len(is))
			for _, in := range []*nested{before, now} {
				for j := range in.parts {
					other[folded(in.parts[j].name)] = in.parts[j].name
				}
			}
		}
		if in, ok := other[folded(name)]; ok {
			names[i] = in
		}
	}
	return names
}

func has(index map[string]int, name string) bool {
	_, ok := index[name]
	return ok
}

func mergeArray(out *strings.Builder, stored, before, now *nested) {
	from := match(stored, before, now)
	r := rebuilt{Builder: out, of: stored}
	for j := range now.parts {
		if i := from[j]; i >= 0 {
			r.part(i)
			merge(out, &stored.parts[i].value, &before.parts[i].value, &now.parts[j].value)
		} else {
			r.append(&now.parts[j])
		}
	}
	r.close()
}

// Rest returns the members of stored that before lacks, also those inside of members, if now, the encoding of the changed value,
// has these members too. ok is false if there are none, or if one of the texts is not a JSON object.
func Rest(stored, before, now string) (rest string, ok bool) {
	s, b, n, ok := parseAll(stored, before, now)
	if !ok {
		return "", false
	}
	var out strings.Builder
	ok = writeRest(&out, &s, &b, &n, func() {})
	return out.String(), ok
}

// writeRest calls begin before it writes anything, and reports whether it did.
func writeRest(out *strings.Builder, stored, before, now *nested, begin func()) bool {
	if stored.kind() != '{' || before.kind() != '{' || now.kind() != '{' {
		return false
	}
	was, is := before.index(), now.index()
	names := stored.namesIn(was, is, before, now)
	r := rebuilt{Builder: out, of: stored}
	for i := range stored.parts {
		member := func() {
			if !r.begun {
				begin()
			}
			r.part(i)
		}
		b, inBefore := was[names[i]]
		n, inNow := is[names[i]]
		switch {
		case !inBefore && !inNow:
			member()
			out.WriteString(stored.parts[i].value.text)
		case inBefore && inNow:
			writeRest(out, &stored.parts[i].value, &before.parts[b].value, &now.parts[n].value, member)
		}
	}
	if r.begun {
		r.close()
	}
	return r.begun
}
