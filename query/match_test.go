package query

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

// reference evaluates a filter independently of Match, and compares values by the
// definition of their type: UTF-16 units, big-endian bytes, whole ticks.
func reference(n *node, row Values) bool {
	if n == nil {
		return true
	}
	switch opWords[n.op] {
	case "and":
		return !slices.ContainsFunc(n.kids, func(k *node) bool { return !reference(k, row) })
	case "or":
		return slices.ContainsFunc(n.kids, func(k *node) bool { return reference(k, row) })
	case "not":
		return !reference(n.kids[0], row)
	}
	stored, ok := row[n.name]
	if !ok {
		return false
	}
	order, comparable := 0, false
	switch v := stored.(type) {
	case string:
		order = slices.Compare(utf16.Encode([]rune(v)), utf16.Encode([]rune(n.lit.text)))
		comparable = n.lit.typ.String() == "String"
	case int32:
		order = sign(float64(v) - float64(int32(n.lit.num)))
		comparable = n.lit.typ.String() == "Int32"
	case int64:
		w := int64(n.lit.num)
		order = map[bool]int{v < w: -1, v > w: 1}[true]
		comparable = n.lit.typ.String() == "Int64"
	case float64:
		if math.IsNaN(v) {
			return n.lit.typ.String() == "Double" && opWords[n.op] == "ne"
		}
		order = sign(v - math.Float64frombits(n.lit.num))
		comparable = n.lit.typ.String() == "Double"
	case bool:
		order = map[bool]int{true: 1}[v] - int(n.lit.num)
		comparable = n.lit.typ.String() == "Boolean"
	case time.Time:
		order = v.Truncate(100 * time.Nanosecond).Compare(timeOf(n.lit.int()))
		comparable = n.lit.typ.String() == "DateTime"
	case []byte:
		order = bytes.Compare(v, []byte(n.lit.text))
		comparable = n.lit.typ.String() == "Binary"
	case [16]byte:
		order = bytes.Compare(v[:], []byte(n.lit.text))
		comparable = n.lit.typ.String() == "Guid"
	}
	if !comparable {
		return false
	}
	switch opWords[n.op] {
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

func sign(f float64) int {
	switch {
	case f < 0:
		return -1
	case f > 0:
		return 1
	}
	return 0
}

func TestMatchAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, row := tightFilter(t), drawRow(t)
		assert.Equal(assert.Now(t), f.Match(row), reference(f.root, row), f, "on", row)
	})
}

func TestMatchAgreesWithTheReferenceOnAnyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal, stored := drawValue(t), drawValue(t)
		if rapid.Bool().Draw(t, "equal") {
			stored = literal
		}
		row := Values{"A": stored}
		p := Prop("A")
		for _, f := range []Filter{p.Eq(literal), p.Ne(literal), p.Lt(literal), p.Le(literal), p.Gt(literal), p.Ge(literal), Not(p.Lt(literal))} {
			assert.Equal(assert.Now(t), f.Match(row), reference(f.root, row), f, "on", row)
		}
	})
}

func TestMatchIsStrict(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	row := Values{
		"PartitionKey": "Sales", "RowKey": "000123", "Age": int32(34), "Salary": int64(5_000_000_000),
		"Rating": 4.0, "Active": true, "Since": noon, "Photo": []byte{1, 2}, "ID": [16]byte{15: 1},
		"Bad": math.NaN(), "Odd": uint8(1), "Smile": "\U0001F600",
	}
	for text, want := range map[string]bool{
		"Age eq 34":                true,
		"Age eq 34L":               false,
		"Age eq 34.0":              false,
		"Age eq '34'":              false,
		"Age ne 34L":               false,
		"not (Age eq 34L)":         true,
		"Salary eq 5000000000L":    true,
		"Rating eq 4.0":            true,
		"Rating eq 4":              false,
		"Rating ge 3.5":            true,
		"Active":                   true,
		"not Active":               false,
		"Active gt false":          true,
		"Missing eq 1":             false,
		"Missing ne 1":             false,
		"not (Missing eq 1)":       true,
		"not Missing":              true,
		"PartitionKey eq 'sales'":  false,
		"partitionkey eq 'Sales'":  false,
		"RowKey lt '00013'":        true,
		"RowKey gt '00012'":        true,
		"Smile lt '\uFFFD'":        true,
		"Smile gt '\uD7FF'":        true,
		"Photo eq X'0102'":         true,
		"Photo lt X'010200'":       true,
		"Bad ne 1.0":               true,
		"Bad eq 1.0":               false,
		"Bad lt 1.0 or Bad ge 1.0": false,
		"Odd eq 1":                 false,
		"Odd ne 1":                 false,
		"ID gt guid'00000000-0000-0000-0000-000000000000'": true,
		"Since eq datetime'2026-01-02T13:00:00+01:00'":     true,
		"Since lt datetime'2026-01-02T12:00:00.0000001Z'":  true,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := f.Match(row); got != want {
			t.Errorf("%q matches: %v, want %v", text, got, want)
		}
	}
}

func TestMatchComparesTimesByTicks(t *testing.T) {
	tick := time.Date(2026, 1, 2, 0, 0, 0, 100, time.UTC)
	f := Prop("T").Eq(tick.Add(99))
	if !f.Match(Values{"T": tick}) || f.Match(Values{"T": tick.Add(100)}) {
		t.Error("a time is not truncated to 100 ns")
	}
}

func TestPrefixMatchesExactlyTheTextsThatBeginWithIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix, text := drawText(t), drawText(t)
		if rapid.Bool().Draw(t, "under it") {
			text = prefix + text
		}
		want := len(text) >= len(prefix) && text[:len(prefix)] == prefix
		if f := Prop("A").Prefix(prefix); f.Match(Values{"A": text}) != want {
			t.Fatalf("%q on %q: %v, want %v", f, text, !want, want)
		}
	})
}
