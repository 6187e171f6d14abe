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

// flip returns the equivalent operator for exchanged operands.
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

// maxDepth limits the height of a tree, so that no recursion over it exhausts the stack.
// The service accepts 15 comparisons, so useful filters are far below it.
const maxDepth = 100

// node is an immutable part of a filter tree. A nil *node matches every row; it does not
// occur inside a tree.
//
// Trees have a canonical form: the children of an "and" are never "and", the children of
// an "or" are never "or", both have at least two children, and the child of a "not" is
// never "not". So filters that differ only in grouping or in double negation are the
// same tree, and parsing the text of a tree returns the same tree.
type node struct {
	op    op
	depth uint16
	count int // comparisons
	name  string
	lit   literal
	kids  []*node
}

// nothing is the filter that matches no row: no text sorts before the empty text. The
// service has no literal "false" that could be used instead.
var nothing = compare(nameOfPartitionKey, opLt, literal{typ: String})

func compare(name string, o op, lit literal) *node {
	return &node{op: o, depth: 1, count: 1, name: name, lit: lit}
}

// join returns the "and" or the "or" of parts, none of which is nil. It does not retain
// the slice parts.
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
