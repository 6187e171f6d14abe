// Package filter evaluates the $filter of a query as the Table service does. It is
// independent of package query, which writes filters for clients: a test compares them.
//
// https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
package filter

// Row is a row that filters examine. Value returns the value of a property, and false if the
// row does not have it.
type Row interface {
	Value(name string) (Value, bool)
}

// Filter is a parsed $filter. The zero value matches every row. It is immutable, and safe for
// concurrent use.
type Filter struct {
	root        *node
	comparisons int
	capitals    string
}

type kind uint8

const (
	constant kind = iota // true or false
	comparison
	not
	and
	or
)

// node is a condition.
type node struct {
	kind        kind
	truth       bool // of a constant
	left, right *node

	name     string // of a comparison
	operator string // eq, ne, lt, le, gt or ge
	literal  Value
}

// Comparisons returns the number of comparisons in f.
func (f Filter) Comparisons() int { return f.comparisons }

// Capitals returns a Boolean literal of f that is not in lower case, such as True, "" if there is none.
func (f Filter) Capitals() string { return f.capitals }

// Match reports whether the service returns the row. A comparison is false if the row does
// not have the property, or has it with another type than the literal.
func (f Filter) Match(r Row) bool { return f.root == nil || f.root.match(r) }

func (n *node) match(r Row) bool {
	switch n.kind {
	case constant:
		return n.truth
	case not:
		return !n.left.match(r)
	case and:
		return n.left.match(r) && n.right.match(r)
	case or:
		return n.left.match(r) || n.right.match(r)
	}
	v, ok := r.Value(n.name)
	if !ok || v.Type != n.literal.Type {
		return false
	}
	if v.Type == Double {
		return holdsDouble(n.operator, v.Float, n.literal.Float)
	}
	if v.Type == String && n.operator == "eq" { // without determining the order
		return v.Text == n.literal.Text
	}
	return holds(n.operator, v.compare(n.literal))
}

// holds reports whether an operator is true for two values that are in that order.
func holds(operator string, order int) bool {
	switch operator {
	case "eq":
		return order == 0
	case "ne":
		return order != 0
	case "lt":
		return order < 0
	case "le":
		return order <= 0
	case "gt":
		return order > 0
	}
	return order >= 0
}

// holdsDouble is holds for doubles, among which a NaN has no order and equals nothing.
func holdsDouble(operator string, a, b float64) bool {
	if a != a || b != b {
		return operator == "ne"
	}
	order := 0
	switch {
	case a < b:
		order = -1
	case a > b:
		order = 1
	}
	return holds(operator, order)
}

// Conditions calls use for each comparison of a property with a text that every matching row
// satisfies.
func (f Filter) Conditions(use func(name, operator, text string)) {
	if f.root != nil {
		f.root.conditions(use)
	}
}

func (n *node) conditions(use func(name, operator, text string)) {
	switch {
	case n.kind == and:
		n.left.conditions(use)
		n.right.conditions(use)
	case n.kind == comparison && n.literal.Type == String:
		use(n.name, n.operator, n.literal.Text)
	}
}
