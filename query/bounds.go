package query

import (
	"strings"

	"github.com/azpatterns/azpatterns/keys"
)

// least is appended to a text to get its successor: no text is between s and s+least.
// So a half-open keys.Range can also represent eq, le and gt. No key contains the
// character.
const least = "\x00"

// one returns the range that contains only s.
func one(s string) keys.Range { return keys.Range{From: s, To: s + least} }

func isOne(r keys.Range) bool {
	return len(r.To) == len(r.From)+1 && r.To[len(r.From)] == 0 && r.To[:len(r.From)] == r.From
}

// rangeOf returns the texts for which a comparison other than ne is true. It returns false
// if there are none.
func rangeOf(o op, s string) (keys.Range, bool) {
	switch o {
	case opEq:
		return one(s), true
	case opLt:
		return keys.Range{To: s}, s != ""
	case opLe:
		return keys.Range{To: s + least}, true
	case opGt:
		return keys.Range{From: s + least}, true
	default:
		return keys.Range{From: s}, true
	}
}

// rangesOf returns the texts for which the comparison is true, as at most two ranges
// in order.
func rangesOf(o op, s string) []keys.Range {
	if o == opNe {
		return append(rangesOf(opLt, s), keys.Range{From: s + least})
	}
	if r, ok := rangeOf(o, s); ok {
		return []keys.Range{r}
	}
	return nil
}

// boundsOn appends the range as comparisons of the named key: none, one or two.
func boundsOn(dst []*node, name string, r keys.Range) []*node {
	if isOne(r) {
		return append(dst, compare(name, opEq, stringLiteral(r.From)))
	}
	if s, exclusive := strings.CutSuffix(r.From, least); exclusive {
		dst = append(dst, compare(name, opGt, stringLiteral(s)))
	} else if r.From != "" {
		dst = append(dst, compare(name, opGe, stringLiteral(r.From)))
	}
	if s, inclusive := strings.CutSuffix(r.To, least); inclusive {
		dst = append(dst, compare(name, opLe, stringLiteral(s)))
	} else if r.To != "" {
		dst = append(dst, compare(name, opLt, stringLiteral(r.To)))
	}
	return dst
}

// earlier returns the lower of two upper bounds.
func earlier(a, b string) string {
	if a == "" || b != "" && keys.Compare(b, a) < 0 {
		return b
	}
	return a
}

func later(a, b string) string {
	if keys.Compare(a, b) < 0 {
		return b
	}
	return a
}

// overlap returns the intersection of a and b, and false if it is empty.
func overlap(a, b keys.Range) (keys.Range, bool) {
	r := keys.Range{From: later(a.From, b.From), To: earlier(a.To, b.To)}
	return r, r.To == "" || keys.Compare(r.From, r.To) < 0
}

// piece is a range of texts and the condition that applies to it.
type piece[V any] struct {
	keys.Range
	val V
}

// algebra combines the conditions of pieces. Texts outside all pieces do not match. The
// functions and, or and not return false if no row matches their result.
type algebra[V any] struct {
	all  V
	and  func(x, y V) (V, bool)
	or   func(x, y V) (V, bool)
	not  func(x V) (V, bool)
	same func(x, y V) bool
}

func (g *algebra[V]) put(out []piece[V], r keys.Range, v V) []piece[V] {
	if n := len(out) - 1; n >= 0 && out[n].To == r.From && g.same(out[n].val, v) {
		out[n].To = r.To
		return out
	}
	return append(out, piece[V]{r, v})
}

// merge combines two lists of pieces, each ordered and disjoint. A range that only one
// of them covers is kept for an or, and dropped for an and.
func (g *algebra[V]) merge(o op, a, b []piece[V]) []piece[V] {
	both := g.and
	if o == opOr {
		both = g.or
	}
	out := make([]piece[V], 0, max(len(a), len(b)))
	var x, y piece[V]
	hasX, hasY := pull(&x, &a), pull(&y, &b)
	for hasX && hasY {
		switch c := keys.Compare(x.From, y.From); {
		case c < 0:
			r := keys.Range{From: x.From, To: earlier(x.To, y.From)}
			if o == opOr {
				out = g.put(out, r, x.val)
			}
			hasX = skip(&x, &a, r.To)
		case c > 0:
			r := keys.Range{From: y.From, To: earlier(y.To, x.From)}
			if o == opOr {
				out = g.put(out, r, y.val)
			}
			hasY = skip(&y, &b, r.To)
		default:
			r := keys.Range{From: x.From, To: earlier(x.To, y.To)}
			if v, ok := both(x.val, y.val); ok {
				out = g.put(out, r, v)
			}
			hasX, hasY = skip(&x, &a, r.To), skip(&y, &b, r.To)
		}
	}
	if o != opOr {
		return out
	}
	for ; hasX; hasX = pull(&x, &a) {
		out = g.put(out, x.Range, x.val)
	}
	for ; hasY; hasY = pull(&y, &b) {
		out = g.put(out, y.Range, y.val)
	}
	return out
}

func pull[V any](head *piece[V], rest *[]piece[V]) bool {
	if len(*rest) == 0 {
		return false
	}
	*head, *rest = (*rest)[0], (*rest)[1:]
	return true
}

// skip drops the part of head below to, which is inside head or its end.
func skip[V any](head *piece[V], rest *[]piece[V], to string) bool {
	if head.To == to {
		return pull(head, rest)
	}
	head.From = to
	return true
}

func (g *algebra[V]) complement(a []piece[V]) []piece[V] {
	out := make([]piece[V], 0, len(a)+1)
	from := ""
	for _, p := range a {
		if p.From != from {
			out = g.put(out, keys.Range{From: from, To: p.From}, g.all)
		}
		if v, ok := g.not(p.val); ok {
			out = g.put(out, p.Range, v)
		}
		if p.To == "" {
			return out
		}
		from = p.To
	}
	return g.put(out, keys.Range{From: from}, g.all)
}
