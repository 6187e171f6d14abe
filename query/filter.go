package query

// A Filter is a condition on the rows of a table: a tree of comparisons joined by and,
// or and not. It is immutable and safe for concurrent use.
//
// The zero Filter matches every row; its text is "".
//
// A filter that cannot be built, because of an unknown Go type or an illegal property
// name, is invalid. It keeps its error, and so does every filter built from it;
// [Filter.Err] returns the first error. An invalid filter matches no row and equals no
// filter, and the service rejects its text.
type Filter struct {
	root *node // nil matches every row
	err  error
}

// And returns the filter of the rows that match all of fs. And() matches every row, and
// a zero Filter in fs has no effect.
func And(fs ...Filter) Filter {
	var few [8]*node // avoids an allocation
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

// Or returns the filter of the rows that match at least one of fs. Or() matches no row,
// so a filter built from an empty list never becomes a scan. If a zero Filter is in fs,
// the result matches every row.
func Or(fs ...Filter) Filter {
	var few [8]*node // avoids an allocation
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

// Not returns the filter of the rows that do not match f. A row without a property
// matches no comparison of it, so Not(Prop("X").Eq(v)) matches rows without X, while
// Prop("X").Ne(v) does not. Not(Not(f)) is f.
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

var errTooDeep error = &Error{Reason: "nested more than 100 levels deep"}

// Err returns the first error that occurred while the filter was built: an [*Error], or
// a [*SyntaxError] of [Parse]. It returns nil for a valid filter.
func (f Filter) Err() error { return f.err }

// IsZero reports whether f is the zero Filter, which matches every row.
func (f Filter) IsZero() bool { return f.root == nil && f.err == nil }

// Equal reports whether f and g are the same tree, in the same order. Parentheses that
// do not change the meaning, as in a and (b and c), are ignored. An invalid filter
// equals no filter.
func (f Filter) Equal(g Filter) bool {
	return f.err == nil && g.err == nil && same(f.root, g.root)
}

// Comparisons returns the number of comparisons in f. The service rejects a request
// with more than [MaxComparisons]; [Explain] divides a larger filter into several reads
// if it can.
func (f Filter) Comparisons() int {
	if f.root == nil {
		return 0
	}
	return f.root.count
}

// MaxComparisons is the maximum number of comparisons that the service accepts in one
// filter.
//
// See https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities#supported-query-options
const MaxComparisons = 15
