package jsonmerge

import (
	"cmp"
	"slices"
)

// maxPairs limits how many pairs of elements are compared.
const maxPairs = 10000

// match returns the index in before of each element of now, -1 for an element that is new.
func match(before, now *nested) []int {
	from := make([]int, len(now.parts))
	used := make([]bool, len(before.parts))
	pair := func(i, j int) { from[j], used[i] = i, true }
	for j := range now.parts {
		from[j] = -1
		if j < len(before.parts) && before.parts[j].value.id == now.parts[j].value.id {
			pair(j, j)
		}
	}
	equal := map[int][]int{} // the other elements of before by their id
	for i := range before.parts {
		if id := before.parts[i].value.id; !used[i] {
			equal[id] = append(equal[id], i)
		}
	}
	for j := range now.parts {
		id := now.parts[j].value.id
		if rest := equal[id]; from[j] < 0 && len(rest) > 0 {
			pair(rest[0], j)
			equal[id] = rest[1:]
		}
	}
	for _, p := range similar(before, now, from, used) {
		if from[p.j] < 0 && !used[p.i] {
			pair(p.i, p.j)
		}
	}
	for j := range from {
		if len(from) == len(used) && from[j] < 0 && !used[j] {
			pair(j, j)
		}
	}
	return from
}

type candidate struct{ i, j, equal int }

// similar returns the pairs of elements that have at least half of their members in common, those
// with the most first.
func similar(before, now *nested, from []int, used []bool) (pairs []candidate) {
	old, changed := before.objects(func(i int) bool { return !used[i] }), now.objects(func(j int) bool { return from[j] < 0 })
	if len(old)*len(changed) > maxPairs {
		return nil
	}
	for _, j := range changed {
		b := &now.parts[j].value
		in := b.index()
		for _, i := range old {
			a := &before.parts[i].value
			c := candidate{i: i, j: j}
			for k := range a.parts {
				if n, ok := in[a.parts[k].name]; ok && b.parts[n].value.id == a.parts[k].value.id {
					c.equal++
				}
			}
			if c.equal > 0 && 2*c.equal >= len(a.parts) {
				pairs = append(pairs, c)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b candidate) int {
		return cmp.Or(b.equal-a.equal, abs(a.i-a.j)-abs(b.i-b.j), a.i-b.i, a.j-b.j)
	})
	return pairs
}

// objects returns the indices of the elements that are objects and that want selects.
func (n *nested) objects(want func(int) bool) (found []int) {
	for i := range n.parts {
		if want(i) && n.parts[i].value.kind() == '{' {
			found = append(found, i)
		}
	}
	return found
}

func abs(n int) int { return max(n, -n) }
