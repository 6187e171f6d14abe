package query

import (
	"cmp"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// A Row provides the values for [Filter.Match]. Lookup returns the value of the named
// property as string, int32, int64, float64, bool, time.Time, []byte or [16]byte, one Go
// type per [Type]. ok is false if the row does not have the property. Every row has
// PartitionKey and RowKey, as strings. If one Row is matched concurrently, Lookup must be
// safe for concurrent use.
type Row interface {
	Lookup(name string) (value any, ok bool)
}

// Values is a map that implements [Row].
type Values map[string]any

// Lookup returns the value of the key name.
func (v Values) Lookup(name string) (any, bool) {
	value, ok := v[name]
	return value, ok
}

// Match reports whether the service would return row for f.
//
// Comparisons are strictly typed: if the row does not have the property, or has it with
// another type than the literal, no comparison matches, not even ne. There is no third
// truth value, so the not of such a comparison matches. Strings are compared by UTF-16
// code units ([keys.Compare]), Binary and GUID by bytes, times by ticks of 100 ns, and
// false is less than true. A stored NaN matches only ne.
func (f Filter) Match(row Row) bool {
	if f.err != nil {
		return false
	}
	return f.root == nil || f.root.match(row)
}

func (n *node) match(row Row) bool {
	switch n.op {
	case opAnd:
		for _, k := range n.kids {
			if !k.match(row) {
				return false
			}
		}
		return true
	case opOr:
		for _, k := range n.kids {
			if k.match(row) {
				return true
			}
		}
		return false
	case opNot:
		return !n.kids[0].match(row)
	}
	v, ok := row.Lookup(n.name)
	return ok && n.holds(v)
}

// holds reports whether the comparison n is true for the stored value v.
func (n *node) holds(v any) bool {
	switch v := v.(type) {
	case string:
		return n.lit.typ == String && n.op.holdsText(v, n.lit.text)
	case int32:
		return n.lit.typ == Int32 && holds(n.op, int64(v), n.lit.int())
	case int64:
		return n.lit.typ == Int64 && holds(n.op, v, n.lit.int())
	case float64:
		return n.lit.typ == Double && holds(n.op, v, n.lit.float())
	case bool:
		return n.lit.typ == Bool && holds(n.op, boolLiteral(v).num, n.lit.num)
	case time.Time:
		return n.lit.typ == DateTime && holds(n.op, ticksOf(v), n.lit.int())
	case []byte:
		return n.lit.typ == Binary && n.op.holdsOrder(strings.Compare(string(v), n.lit.text))
	case [16]byte:
		return n.lit.typ == GUID && n.op.holdsOrder(strings.Compare(string(v[:]), n.lit.text))
	}
	return false
}

// holdsText does not determine the order of the texts if only equality matters.
func (o op) holdsText(a, b string) bool {
	switch o {
	case opEq:
		return a == b
	case opNe:
		return a != b
	}
	return o.holdsOrder(keys.Compare(a, b))
}

func (o op) holdsOrder(c int) bool { return holds(o, c, 0) }

func holds[T cmp.Ordered](o op, a, b T) bool {
	switch o {
	case opEq:
		return a == b
	case opNe:
		return a != b
	case opLt:
		return a < b
	case opLe:
		return a <= b
	case opGt:
		return a > b
	default:
		return a >= b
	}
}
