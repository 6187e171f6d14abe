package jsonmerge

import "slices"

// match returns for each element of now the index of the one in before that it was, or -1 if it may be new. It does linear work.
func match(stored, before, now *nested) []int {
	if from, ok := inPlace(before, now); ok {
		return from
	}
	from := make([]int, len(now.parts))
	for j := range from {
		from[j] = -1
	}
	was := before.byID()
	for id, js := range now.byID() {
		pairEqual(from, stored, before, was[id], js)
	}
	pairChanged(from, before, now)
	return from
}

// inPlace returns the result of match if at most one element differs from the one at its position. If it is an object, it is the same one
// if only one of its members differs.
func inPlace(before, now *nested) (from []int, ok bool) {
	if len(before.parts) != len(now.parts) {
		return nil, false
	}
	from = make([]int, len(now.parts))
	different := 0
	for j := range from {
		a, b := &before.parts[j].value, &now.parts[j].value
		if from[j] = j; a.id == b.id {
			continue
		}
		if different++; different > 1 {
			return nil, false
		}
		if a.kind() == '{' && b.kind() == '{' && !oneDiffers(a, b) {
			from[j] = -1
		}
	}
	return from, true
}

// oneDiffers reports whether at most one member of two objects differs.
func oneDiffers(a, b *nested) bool {
	in, n := b.index(), 0
	for name, i := range a.index() {
		j, both := in[name]
		if delete(in, name); !both || a.parts[i].value.id != b.parts[j].value.id {
			n++
		}
	}
	return n+len(in) <= 1
}

// byID returns the positions of the elements by their ids.
func (n *nested) byID() map[int][]int {
	positions := make(map[int][]int, len(n.parts))
	for i := range n.parts {
		id := n.parts[i].value.id
		positions[id] = append(positions[id], i)
	}
	return positions
}

// pairEqual sets from for equal elements, which were at the positions is and are at js. If there are fewer of them than before, it is not
// known which are left; if there are more, which are new: then those at their positions are not.
func pairEqual(from []int, stored, before *nested, is, js []int) {
	if len(is) == 0 {
		return
	}
	first := &before.parts[is[0]].value
	scalar := first.kind() != '{' && first.kind() != '['
	alike := !slices.ContainsFunc(is, func(i int) bool { return stored.parts[i].value.id != stored.parts[is[0]].value.id })
	if len(is) == len(js) || len(is) > len(js) && alike || scalar {
		for n := range min(len(is), len(js)) {
			from[js[n]] = is[n]
		}
	} else if len(is) < len(js) {
		for _, j := range js {
			if _, found := slices.BinarySearch(is, j); found {
				from[j] = j
			}
		}
	}
}
