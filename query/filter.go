package query

// A Filter is a condition on the rows of a table: a tree of comparisons joined
// by and, or and not. It is an immutable value, safe to keep and to share
// between goroutines.
//
// The zero Filter is every row; its text is "".
//
// A filter that cannot be built (an unknown Go type, an illegal property name)
// keeps its error: every filter made from it is broken too, and [Filter.Err]
// reports the first error. A broken filter matches no row, is equal to no
// filter, and its text is one that the service refuses.
type Filter struct {
	root *node // nil: every row
	err  error
}

// And is the filter that every one of fs lets through. And() of nothing is
// every row, and a zero Filter among fs changes nothing.
func And(fs ...Filter) Filter {
	var few [8]*node // spares an allocation
	parts := few[:0]
	for _, f := range fs {
		if f.err != nil {
			return Filter{err: f.err}
		}
		if f.root != nil {
			parts = append(parts, f.root)
		}
	}
	if len(parts) == 0 {
		return Filter{}
	}
	return checked(join(opAnd, parts))
}

// Or is the filter that at least one of fs lets through. Or() of nothing is no
// row: text built from an empty list never turns into a scan. A zero Filter
// among fs makes it every row.
func Or(fs ...Filter) Filter {
	var few [8]*node // spares an allocation
	parts := few[:0]
	every := false
	for _, f := range fs {
		if f.err != nil {
			return Filter{err: f.err}
		}
		if f.root == nil {
			every = true
			continue
		}
		parts = append(parts, f.root)
	}
	switch {
	case every:
		return Filter{}
	case len(parts) == 0:
		return Filter{root: nothing}
	}
	return checked(join(opOr, parts))
}

// Not is the filter that lets through what f does not. Since a row without
// the property never matches a comparison, Not(Prop("X").Eq(v)) lets rows
// without X through, while Prop("X").Ne(v) does not. Not(Not(f)) is f.
func Not(f Filter) Filter {
	if f.err != nil {
		return f
	}
	if f.root == nil {
		return Filter{root: nothing}
	}
	return checked(negate(f.root))
}

func checked(n *node) Filter {
	if n.depth > maxDepth {
		return Filter{err: errTooDeep}
	}
	return Filter{root: n}
}

var errTooDeep error = &Error{Reason: "nested more than 100 deep"}

// Err reports the first error met while the filter was built, an [*Error] or,
// from [Parse], a [*SyntaxError].
func (f Filter) Err() error { return f.err }

// IsZero reports whether f is the zero Filter, every row.
func (f Filter) IsZero() bool { return f.root == nil && f.err == nil }

// Equal reports whether f and g are the same tree, in the same order.
// Grouping that means nothing, as in a and (b and c), makes no difference. A
// broken filter equals no filter.
func (f Filter) Equal(g Filter) bool {
	return f.err == nil && g.err == nil && same(f.root, g.root)
}

// Comparisons counts the discrete comparisons of f. The service refuses more
// than [MaxComparisons] in one request; [Explain] says how a larger filter can
// still run.
func (f Filter) Comparisons() int {
	if f.root == nil {
		return 0
	}
	return f.root.count
}

// MaxComparisons is how many comparisons the service takes in one filter.
//
// See https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities#supported-query-options
const MaxComparisons = 15
