package query

import "slices"

type op uint8

const (
	opEq op = iota
	opNe
	opLt
	opLe
	opGt
	opGe
	opAnd
	opOr
	opNot
)

var opWords = [...]string{
	opEq: "eq", opNe: "ne", opLt: "lt", opLe: "le", opGt: "gt", opGe: "ge",
	opAnd: "and", opOr: "or", opNot: "not",
}

func (o op) comparison() bool { return o <= opGe }

// flip gives the operator that means the same with the sides exchanged.
func (o op) flip() op {
	switch o {
	case opLt:
		return opGt
	case opLe:
		return opGe
	case opGt:
		return opLt
	case opGe:
		return opLe
	}
	return o
}

// maxDepth bounds the height of a tree, so that no recursion over one can
// exhaust the stack. With 15 comparisons nobody comes near it.
const maxDepth = 100

// node is an immutable part of a filter tree. A nil *node stands for every
// row; it never occurs inside a tree.
//
// Trees are kept in one form: the children of an "and" are never "and", the
// children of an "or" never "or", both have two children or more, and the
// child of a "not" is never "not". So equal meaning by associativity or double
// negation is equal structure, and text is parsed back to the very same tree.
type node struct {
	op    op
	depth uint16
	count int // comparisons
	name  string
	lit   literal
	kids  []*node
}

// nothing is the filter that no row passes: no text sorts before the empty
// one. The service has no literal for it.
var nothing = compare(nameOfPartitionKey, opLt, literal{typ: String})

func compare(name string, o op, lit literal) *node {
	return &node{op: o, depth: 1, count: 1, name: name, lit: lit}
}

// join makes an "and" or an "or" of parts that are not nil. It takes no
// ownership of parts.
func join(o op, parts []*node) *node {
	if len(parts) == 1 {
		return parts[0]
	}
	size := 0
	for _, p := range parts {
		if p.op == o {
			size += len(p.kids)
		} else {
			size++
		}
	}
	n := &node{op: o, kids: make([]*node, 0, size)}
	for _, p := range parts {
		if p.op == o {
			n.kids = append(n.kids, p.kids...)
		} else {
			n.kids = append(n.kids, p)
		}
	}
	for _, k := range n.kids {
		n.depth = max(n.depth, k.depth+1)
		n.count += k.count
	}
	return n
}

func negate(n *node) *node {
	if n.op == opNot {
		return n.kids[0]
	}
	return &node{op: opNot, depth: n.depth + 1, count: n.count, kids: []*node{n}}
}

// same reports whether two trees are equal; nil equals nil only.
func same(a, b *node) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	return a.op == b.op && a.count == b.count && a.depth == b.depth &&
		a.name == b.name && a.lit == b.lit && slices.EqualFunc(a.kids, b.kids, same)
}
