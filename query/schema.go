package query

// A Schema maps the names of the properties of a table's rows to their types.
// PartitionKey, RowKey and Timestamp are part of every schema and need not be listed. The name "" is
// for all properties that are not listed.
type Schema map[string]Type

// typeOf returns the type of a property, or false if s does not contain it.
func (s Schema) typeOf(name string) (Type, bool) {
	switch name {
	case nameOfPartitionKey, nameOfRowKey:
		return String, true
	case nameOfTimestamp:
		return DateTime, true
	}
	t, ok := s[name]
	if !ok {
		t, ok = s[""]
	}
	return t, ok
}

// Check returns an [*Error] for the first comparison of f that cannot match a row of s,
// because its property is not in s, or because its literal has another type. If f is
// invalid, it returns the error of [Filter.Err].
func (f Filter) Check(s Schema) error {
	if f.err != nil {
		return f.err
	}
	for n := range f.root.comparisons {
		t, ok := s.typeOf(n.name)
		if !ok {
			return &Error{Property: n.name, Reason: "not in the schema; names are case-sensitive"}
		}
		if t == Encrypted {
			return &Error{Property: n.name, Reason: "the property is encrypted, so no filter can find it; keys.Blind makes a text of it for an index"}
		}
		if t != n.lit.typ && t != Any {
			return &Error{Property: n.name, Reason: mismatch(t, n.lit.typ)}
		}
	}
	return nil
}

// comparisons iterates over the comparisons of the tree, from left to right.
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
	return "the property is of type " + stored.String() + ", the literal of type " + literal.String() + "; values of different types never match"
}
