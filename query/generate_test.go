package query

import (
	"math"
	"time"

	"pgregory.net/rapid"
)

// weird are texts that could change the structure of a filter, or that are at an edge of
// the order.
var weird = []string{
	"", "'", "''", "'''", "a'b", "' or PartitionKey ne '", "') or (1 eq 1", "x' or 'x' eq 'x",
	"\\'", "%27", "&$filter=", "+", "a b", "\u2019", "\u02BC", "\uFF07", "\x00", "\n", "\t",
	"datetime'2026-01-01T00:00:00Z'", "null", "true", "5", "5L", "a/b", "a#b", "\uFFFD", "\uFFFF",
	"\U0001F600", "\U00010000", "\U0010FFFF", "\uE000", "\uD7FF", "é", "e\u0301", "and", "not",
}

// keyTexts are few and similar, so that random bounds match random rows.
var keyTexts = []string{"", "a", "a ", "aa", "ab", "b", "b_", "ba", "c", "\uFFFD", "\U0001F600", "a'b"}

var names = []string{"A", "B", "C", "_x", "Größe"}

func drawText(t *rapid.T) string {
	if rapid.Bool().Draw(t, "weird") {
		return rapid.SampledFrom(weird).Draw(t, "weird text")
	}
	return rapid.String().Draw(t, "text")
}

// drawValue draws a value of any Go type that has a literal.
func drawValue(t *rapid.T) any {
	switch rapid.SampledFrom([]int{6, 5, 4, 3, 2, 1, 0, 7, 8, 9}).Draw(t, "type") {
	case 0:
		return rapid.Int32().Draw(t, "int32")
	case 1:
		return rapid.Int64().Draw(t, "int64")
	case 2:
		f := rapid.Float64().Draw(t, "float64")
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = 0
		}
		return f
	case 3:
		return rapid.Bool().Draw(t, "bool")
	case 4:
		return drawTime(t)
	case 5:
		return rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
	case 6:
		return [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid"))
	}
	return drawText(t)
}

func drawTime(t *rapid.T) time.Time {
	first := time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	sec := rapid.Int64Range(first, last).Draw(t, "seconds")
	return time.Unix(sec, rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
}

// anyProperty draws keys as often as other properties.
var anyProperty = rapid.Custom(func(t *rapid.T) Property {
	switch rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "property") {
	case 0:
		return PartitionKey
	case 1:
		return RowKey
	}
	return Prop(rapid.SampledFrom(names).Draw(t, "name"))
})

// drawSmall draws one of a few values, so that about half of the comparisons are true.
func drawSmall(t *rapid.T) any {
	return rapid.SampledFrom([]any{
		"a", "b", int32(1), int32(2), int64(1), int64(2), 1.0, 2.5, true, false,
		time.Unix(0, 0).UTC(), []byte{1}, [16]byte{1},
	}).Draw(t, "small")
}

// drawer draws filters with the given properties and values.
type drawer struct {
	property *rapid.Generator[Property]
	value    func(*rapid.T, Property) any
}

// leaf draws one comparison, or a Prefix, Range or In.
func (d drawer) leaf(t *rapid.T) Filter {
	p, value := d.property.Draw(t, "property"), d.value
	switch rapid.SampledFrom([]int{9, 0, 1, 2, 3, 4, 5, 6, 7, 8}).Draw(t, "leaf") {
	case 0:
		return p.Ne(value(t, p))
	case 1:
		return p.Lt(value(t, p))
	case 2:
		return p.Le(value(t, p))
	case 3:
		return p.Gt(value(t, p))
	case 4:
		return p.Ge(value(t, p))
	case 5:
		return p.Range(value(t, p), value(t, p))
	case 6:
		vs := make([]any, rapid.IntRange(0, 4).Draw(t, "in"))
		for i := range vs {
			vs[i] = value(t, p)
		}
		return p.In(vs...)
	case 7:
		return p.Prefix(rapid.SampledFrom(keyTexts).Draw(t, "prefix"))
	}
	return p.Eq(value(t, p))
}

func (d drawer) tree(t *rapid.T, depth int) Filter {
	if depth == 0 {
		return d.leaf(t)
	}
	several := func() []Filter {
		fs := make([]Filter, rapid.SampledFrom([]int{2, 3, 4, 3, 2, 1, 5, 2, 0}).Draw(t, "kids"))
		for i := range fs {
			fs[i] = d.tree(t, depth-1)
		}
		return fs
	}
	switch rapid.SampledFrom([]int{0, 2, 4, 1, 3, 5}).Draw(t, "node") {
	case 0, 1:
		return And(several()...)
	case 2, 3:
		return Or(several()...)
	case 4:
		return Not(d.tree(t, depth-1))
	}
	return d.leaf(t)
}

func drawDepth(t *rapid.T) int { return rapid.SampledFrom([]int{2, 1, 3, 0}).Draw(t, "depth") }

// anyFilter draws filters of every form with any values.
func anyFilter(t *rapid.T) Filter {
	d := drawer{anyProperty, func(t *rapid.T, _ Property) any { return drawValue(t) }}
	return d.tree(t, drawDepth(t))
}

// tightFilter draws filters with the keys and values of drawRow.
func tightFilter(t *rapid.T) Filter {
	d := drawer{anyProperty, func(t *rapid.T, p Property) any {
		if p.isKey() && rapid.IntRange(0, 19).Draw(t, "odd") > 0 {
			return rapid.SampledFrom(keyTexts).Draw(t, "key")
		}
		return drawSmall(t)
	}}
	return d.tree(t, drawDepth(t))
}

func drawRow(t *rapid.T) Values {
	row := Values{
		nameOfPartitionKey: rapid.SampledFrom(keyTexts).Draw(t, "pk"),
		nameOfRowKey:       rapid.SampledFrom(keyTexts).Draw(t, "rk"),
	}
	for _, n := range names {
		if rapid.Bool().Draw(t, "has") {
			row[n] = drawSmall(t)
		}
	}
	return row
}
