package jsonmerge

import "hash/maphash"

// pairChanged sets from for elements that differ in one member from what they were, such as a flag that a program sets in all of
// them. All other members must be those of no other element. The values of the changed member must not have distinguished the elements:
// if they all differed they may have been ids, and the element may be new.
func pairChanged(from []int, before, now *nested) {
	used := make(map[int]bool, len(from))
	for _, i := range from {
		used[i] = true
	}
	if len(used) == len(before.parts)+1 { // and -1
		return
	}
	seed := maphash.MakeSeed()
	was, is := newIndex(seed, before), newIndex(seed, now)
	for j := range now.parts {
		if from[j] >= 0 {
			continue
		}
		i, member := was.only(is, j)
		if i < 0 || used[i] || was.distinguishes(member) {
			continue
		}
		if back, _ := is.only(was, i); back == j && oneDiffers(&before.parts[i].value, &now.parts[j].value) {
			from[j] = i
		}
	}
}

// index finds objects of an array by all of their members but one.
type index struct {
	of      *nested
	seed    maphash.Seed
	sums    []uint64                // of the members of each element
	whole   map[uint64]elementMatch // elements by their sums
	less    map[uint64]elementMatch // elements by their sums without one member
	without map[rest]elementMatch   // likewise, by the name of that member
	values  map[string]map[int]int  // by name, how many elements have a value
	objects int
}

type rest struct {
	sum  uint64
	name string
}

// elementMatch is the element at a position and the member that it is found without.
type elementMatch struct {
	at      int
	member  string
	several bool // different elements
}

func newIndex(seed maphash.Seed, of *nested) *index {
	x := &index{of, seed, make([]uint64, len(of.parts)), map[uint64]elementMatch{}, map[uint64]elementMatch{}, map[rest]elementMatch{}, map[string]map[int]int{}, 0}
	for i := range of.parts {
		v := &of.parts[i].value
		if v.kind() != '{' {
			continue
		}
		x.objects++
		for k := range v.parts {
			x.sums[i] += x.hash(&v.parts[k])
		}
		add(x.whole, x.sums[i], elementMatch{at: i})
		for k := range v.parts {
			name, sum := v.parts[k].name, x.sums[i]-x.hash(&v.parts[k])
			add(x.less, sum, elementMatch{at: i, member: name})
			add(x.without, rest{sum, name}, elementMatch{at: i, member: name})
			if x.values[name] == nil {
				x.values[name] = map[int]int{}
			}
			x.values[name][v.parts[k].value.id]++
		}
	}
	return x
}

func add[K comparable](in map[K]elementMatch, key K, f elementMatch) {
	if old, ok := in[key]; ok {
		f.several = true
		if old.several {
			return
		}
	}
	in[key] = f
}

// hash depends on the name and the value of a member.
func (x *index) hash(p *nestedPart) uint64 {
	return maphash.Comparable(x.seed, struct {
		name string
		id   int
	}{p.name, p.value.id})
}

// only returns the only element of x that differs from element i of other in one member, and the name of that member; -1 if there is none,
// or are several.
func (x *index) only(other *index, i int) (at int, member string) {
	v := &other.of.parts[i].value
	if v.kind() != '{' {
		return -1, ""
	}
	at = -1
	several := false
	consider := func(f elementMatch, ok bool, name string) {
		if ok {
			several = several || f.several || at >= 0 && at != f.at
			at, member = f.at, name
		}
	}
	sum := other.sums[i]
	f, ok := x.less[sum]
	consider(f, ok, f.member)
	for k := range v.parts {
		name, sum := v.parts[k].name, sum-other.hash(&v.parts[k])
		f, ok := x.without[rest{sum, name}]
		consider(f, ok, name)
		f, ok = x.whole[sum]
		consider(f, ok, name)
	}
	if several {
		return -1, ""
	}
	return at, member
}

// distinguishes reports whether no two objects have the same value of a member. None is a value too.
func (x *index) distinguishes(name string) bool {
	have := 0
	for _, n := range x.values[name] {
		if have += n; n > 1 {
			return false
		}
	}
	return x.objects-have < 2
}
