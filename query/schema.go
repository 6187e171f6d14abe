package query

// A Schema names the properties of a table's rows and their types. The keys
// and Timestamp belong to every schema without being named in it.
type Schema map[string]Type

// typeOf gives the type of a property; false when there is none.
func (s Schema) typeOf(name string) (Type, bool) {
	switch name {
	case nameOfPartitionKey, nameOfRowKey:
		return String, true
	case nameOfTimestamp:
		return DateTime, true
	}
	t, ok := s[name]
	return t, ok
}

// Check reports the first comparison of f that cannot match a row of s: its
// property is not in s, or its literal has another type. The error is an
// [*Error], or the one that [Filter.Err] gives.
func (f Filter) Check(s Schema) error {
	if f.err != nil {
		return f.err
	}
	for n := range f.root.comparisons {
		t, ok := s.typeOf(n.name)
		if !ok {
			return &Error{Property: n.name, Reason: "no such property; names are case-sensitive"}
		}
		if t != n.lit.typ {
			return &Error{Property: n.name, Reason: mismatch(t, n.lit.typ)}
		}
	}
	return nil
}

// comparisons gives the comparisons of the tree, from left to right.
func (n *node) comparisons(yield func(*node) bool) { n.walk(yield) }

func (n *node) walk(yield func(*node) bool) bool {
	if n == nil {
		return true
	}
	if n.op.comparison() {
		return yield(n)
	}
	for _, k := range n.kids {
		if !k.walk(yield) {
			return false
		}
	}
	return true
}

func mismatch(stored, literal Type) string {
	if stored == Int64 && literal == Int32 {
		return "the property is an Int64, the literal an Int32; an Int64 literal ends in L (in Go: int64)"
	}
	return "the property is of type " + stored.String() + ", the literal of type " + literal.String() + "; values of two types never match"
}
