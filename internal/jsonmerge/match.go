package jsonmerge

import (
	"cmp"
	"slices"
)

// maxPairs limits how many pairs of elements are compared.
const maxPairs = 10000

// match returns the index in before of each element of now, -1 for an element that is new.
func match(before, now nested) []int {
	from := make([]int, len(now.parts))
	used := make([]bool, len(before.parts))
	pair := func(i, j int) { from[j], used[i] = i, true }
	for j, part := range now.parts {
		from[j] = -1
		if j < len(before.parts) && before.parts[j].value == part.value {
			pair(j, j)
		}
	}
	equal := map[string][]int{} // the other elements of before by their text
	for i, part := range before.parts {
		if !used[i] {
			equal[part.value] = append(equal[part.value], i)
		}
	}
	for j, part := range now.parts {
		if rest := equal[part.value]; from[j] < 0 && len(rest) > 0 {
			pair(rest[0], j)
			equal[part.value] = rest[1:]
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
func similar(before, now nested, from []int, used []bool) (pairs []candidate) {
	old, changed := objects(before, func(i int) bool { return !used[i] }), objects(now, func(j int) bool { return from[j] < 0 })
	if len(old)*len(changed) > maxPairs {
		return nil
	}
	for i, a := range old {
		for j, b := range changed {
			c := candidate{i: i, j: j}
			in := b.index()
			for _, part := range a.parts {
				if n, ok := in[part.name]; ok && b.parts[n].value == part.value {
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

// objects returns the elements that are objects and that want selects, by their index.
func objects(array nested, want func(int) bool) map[int]nested {
	found := map[int]nested{}
	for i, part := range array.parts {
		if want(i) && part.value[0] == '{' {
			found[i] = parse(part.value)
		}
	}
	return found
}

func abs(n int) int { return max(n, -n) }
