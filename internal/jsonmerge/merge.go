package jsonmerge

import (
	"encoding/json"
	"strings"
)

// Merge returns stored with the changes that lead from before to now. stored is a text that was
// decoded, before the encoding of the value that was read, and now that of the changed value. ok is
// false if one of them is not JSON.
//
// A member of stored belongs to the member of before with its name, or with a name that differs
// only in case, as encoding/json decodes it. An element of an array belongs to the element of
// before at its position, if the arrays have the same length; an element of before to the element
// of now that is equal, or has the most equal members and at least half of them, or, if the
// arrays have the same length, is at its position. Arrays of stored and before with different
// lengths are not merged: the result has the array of now.
func Merge(stored, before, now string) (merged string, ok bool) {
	if !json.Valid([]byte(stored)) || !json.Valid([]byte(before)) || !json.Valid([]byte(now)) {
		return "", false
	}
	return merge(strings.TrimSpace(stored), strings.TrimSpace(before), strings.TrimSpace(now)), true
}

func merge(stored, before, now string) string {
	switch kind := now[0]; {
	case before == now:
		return stored
	case stored[0] != kind || before[0] != kind:
	case kind == '{':
		return mergeObject(parse(stored), parse(before), parse(now))
	case kind == '[':
		if s, b, n := parse(stored), parse(before), parse(now); len(s.parts) == len(b.parts) {
			return mergeArray(s, b, n)
		}
	}
	return now
}

func mergeObject(stored, before, now nested) string {
	was, is := before.index(), now.index()
	names := stored.namesIn(was, is)
	effective := map[string]int{} // the last one of several members with one name
	for i, name := range names {
		effective[name] = i
	}
	out := rebuilt{of: stored}
	for i, part := range stored.parts {
		name := names[i]
		b, inBefore := was[name]
		n, inNow := is[name]
		switch {
		case inNow && effective[name] != i, !inNow && !inBefore:
			out.add(i, part.value)
		case inNow && inBefore:
			out.add(i, merge(part.value, before.parts[b].value, now.parts[n].value))
		case inNow:
			out.add(i, now.parts[n].value)
		}
	}
	for _, part := range now.parts {
		if _, ok := effective[part.name]; ok {
			continue
		}
		if b, ok := was[part.name]; !ok || before.parts[b].value != part.value {
			out.append(part)
		}
	}
	return out.close()
}

// namesIn returns for each member of o the name that it has in was or is; its own name if it has
// none there.
func (o nested) namesIn(was, is map[string]int) []string {
	names := make([]string, len(o.parts))
	for i, part := range o.parts {
		names[i] = part.name
		if has(was, part.name) || has(is, part.name) {
			continue
		}
		for _, in := range []map[string]int{was, is} {
			for name := range in {
				if strings.EqualFold(name, part.name) {
					names[i] = name
				}
			}
		}
	}
	return names
}

func has(index map[string]int, name string) bool {
	_, ok := index[name]
	return ok
}

func mergeArray(stored, before, now nested) string {
	from := match(before, now)
	out := rebuilt{of: stored}
	for j, part := range now.parts {
		if i := from[j]; i >= 0 {
			out.add(i, merge(stored.parts[i].value, before.parts[i].value, part.value))
		} else {
			out.append(part)
		}
	}
	return out.close()
}
