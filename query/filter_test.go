package query

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func TestEmptyFilters(t *testing.T) {
	a := Prop("A").Eq("x")
	row := Values{"PartitionKey": "", "RowKey": "", "A": "y"}
	for _, tt := range []struct {
		name string
		f    Filter
		text string
		want bool
	}{
		{"zero", Filter{}, "", true},
		{"And()", And(), "", true},
		{"And(zero, zero)", And(Filter{}, Filter{}), "", true},
		{"And(zero, a)", And(Filter{}, a), "A eq 'x'", false},
		{"And(a)", And(a), "A eq 'x'", false},
		{"Or()", Or(), "PartitionKey lt ''", false},
		{"Or(a)", Or(a), "A eq 'x'", false},
		{"Or(a, zero)", Or(a, Filter{}), "", true},
		{"Or(zero)", Or(Filter{}), "", true},
		{"Not(zero)", Not(Filter{}), "PartitionKey lt ''", false},
		{"Not(Or())", Not(Or()), "not (PartitionKey lt '')", true},
		{"In()", Prop("A").In(), "PartitionKey lt ''", false},
		{"In(one)", Prop("A").In("y"), "A eq 'y'", true},
		{"key prefix", RowKey.Prefix(""), "", true},
		{"key within every range", PartitionKey.Within(keys.Range{}), "", true},
		{"property prefix", Prop("A").Prefix(""), "A ge ''", true},
		{"property prefix, missing", Prop("B").Prefix(""), "B ge ''", false},
	} {
		if tt.f.Err() != nil || tt.f.String() != tt.text || tt.f.Match(row) != tt.want {
			t.Errorf("%s: %q, %v, matches %v; want %q, %v", tt.name, tt.f, tt.f.Err(), tt.f.Match(row), tt.text, tt.want)
		}
	}
}

func TestTextOfEachOperator(t *testing.T) {
	p := Prop("A")
	for want, f := range map[string]Filter{
		"A eq 'x'":             p.Eq("x"),
		"A ne 'x'":             p.Ne("x"),
		"A lt 'x'":             p.Lt("x"),
		"A le 'x'":             p.Le("x"),
		"A gt 'x'":             p.Gt("x"),
		"A ge 'x'":             p.Ge("x"),
		"A ge 1L and A lt 2L":  p.Range(1, 2),
		"A eq 'x' or A eq 'y'": p.In("x", "y"),
		"RowKey ge 'email_a' and RowKey lt 'email_b'": RowKey.Prefix("email_a"),
		"RowKey ge '000123_' and RowKey lt '000123`'": RowKey.Prefix("000123_"),
		"RowKey ge 'a.' and RowKey lt 'a0'":           RowKey.Prefix("a."),
		"A ge 'a.' and A lt 'a/'":                     p.Prefix("a."),
		"A ge 'b' and A lt 'c'":                       p.Within(keys.Range{From: "b", To: "c"}),
		"A lt 'c'":                                    p.Within(keys.Range{To: "c"}),
		"A ge '\uFFFF'":                               p.Prefix("\uFFFF"),
		"A ge 'a\uFFFF' and A lt 'b'":                 p.Prefix("a\uFFFF"),
		"A ge '\uD7FF' and A lt '\U00010000'":         p.Prefix("\uD7FF"),
		"A ge '\U0010FFFF' and A lt '\uE000'":         p.Prefix("\U0010FFFF"),
		"not (A eq 'x')":                              Not(p.Eq("x")),
		"(A eq 'x' and A eq 'y') or A eq 'z'":         Or(And(p.Eq("x"), p.Eq("y")), p.Eq("z")),
		"A eq 'x' and (A eq 'y' or A eq 'z')":         And(p.Eq("x"), Or(p.Eq("y"), p.Eq("z"))),
		"A eq 'x' and A eq 'y' and A eq 'z'":          And(p.Eq("x"), And(p.Eq("y"), p.Eq("z"))),
	} {
		assert.Equal(assert.Now(t), f.Err(), nil)
		assert.Equal(t, f.String(), want)
	}
}

func TestPropertyNames(t *testing.T) {
	for _, name := range []string{
		"A", "a1", "_", "_1", "Größe", "日付", "ǅ", "Ⅷ", "a\u0301", "a\u200d", "X", "datetime", "guid", "add",
		"odata", strings.Repeat("a", 255),
	} {
		assert.Equal(t, Prop(name).Eq("x").Err(), nil, name)
	}
	for name, reason := range map[string]string{
		"": "empty", "1a": "start", "-": "start", "a-b": "character", "a b": "character", "a'b": "character",
		"a.b": "character", "a/b": "character", "A eq 1 or B": "character", "\u0301a": "start", "a\xff": "UTF-8",
		"and": "word", "or": "word", "not": "word", "eq": "word", "true": "word", "null": "word", "NaN": "word", "INF": "word",
		strings.Repeat("a", 256): "255", strings.Repeat("𐐀", 128): "255",
	} {
		f := Prop(name).Prefix("x")
		var e *Error
		if !errors.As(f.Err(), &e) || e.Property != name || !strings.Contains(e.Reason, reason) {
			t.Errorf("%q: %v, want %q", name, f.Err(), reason)
		}
		if Prop(name).In().Err() == nil {
			t.Errorf("%q: In() does not report the invalid name", name)
		}
	}
	if (Property{}).Eq("x").Err() == nil {
		t.Error("the zero Property is accepted")
	}
	long := Prop(strings.Repeat("ä", 500)).Eq("x").Err().Error()
	if len(long) > 200 || !strings.Contains(long, "…") {
		t.Errorf("the error contains the whole name: %d bytes", len(long))
	}
}

func TestAnInvalidFilterStaysInvalidAndItsTextIsRejected(t *testing.T) {
	first, second := Prop("A").Eq(nil), Prop("B").Eq(nil)
	good := Prop("C").Eq("x")
	for name, f := range map[string]Filter{
		"And":        And(good, first, second),
		"Or":         Or(good, first, second),
		"Or of all":  Or(Filter{}, first),
		"Not":        Not(first),
		"Range":      Prop("A").Range(nil, 1),
		"In":         Prop("A").In("x", nil),
		"deep":       And(good, Or(good, Not(And(good, first)))),
		"And() with": And(first),
	} {
		if f.Err() == nil || f.Err().Error() != first.Err().Error() {
			t.Errorf("%s: %v, want the first error", name, f.Err())
		}
		if _, err := Parse(f.String()); err == nil || f.String() == "" {
			t.Errorf("%s: the text %q is a valid filter", name, f)
		}
		if f.Match(Values{"A": "x", "C": "x"}) || f.Equal(f) || f.IsZero() || f.Comparisons() != 0 {
			t.Errorf("%s: behaves like a valid filter", name)
		}
		plan := Explain(f)
		if plan.Reads() != nil || plan.Check(TableScan) == nil || len(plan.Warnings) != 1 || plan.Warnings[0].Code != WarnBroken {
			t.Errorf("%s: the plan can be executed: %v", name, plan)
		}
	}
}

func TestEqualComparesTreesInOrder(t *testing.T) {
	a, b := Prop("A").Eq("x"), Prop("B").Eq("x")
	if !And(a, b).Equal(And(Prop("A").Eq("x"), b)) || !(Filter{}).Equal(And()) || !Not(Not(a)).Equal(a) {
		t.Error("equal filters differ")
	}
	for _, pair := range [][2]Filter{
		{And(a, b), And(b, a)}, {And(a, b), Or(a, b)}, {a, b}, {a, Filter{}}, {a, Not(a)}, {a, Prop("A").Ne("x")},
		{a, Prop("A").Eq("X")}, {Prop("A").Eq(1), Prop("A").Eq(int32(1))}, {And(a, b), And(a, b, b)},
	} {
		if pair[0].Equal(pair[1]) || pair[1].Equal(pair[0]) {
			t.Errorf("%q equals %q", pair[0], pair[1])
		}
	}
}

func TestBuildingDoesNotChangeItsParts(t *testing.T) {
	a, b, c := Prop("A").Eq("x"), Prop("B").Eq("x"), Prop("C").Eq("x")
	base := And(a, b)
	one, two := And(base, c), And(base, Not(c))
	if base.String() != "A eq 'x' and B eq 'x'" || one.Equal(two) || one.String() != base.String()+" and C eq 'x'" {
		t.Errorf("%q, %q, %q", base, one, two)
	}
}

func TestComparisonsAreCounted(t *testing.T) {
	f := And(PartitionKey.Eq("a"), Not(Or(RowKey.Prefix("b"), Prop("X").In(1, 2, 3))))
	assert.Equal(t, f.Comparisons(), 6)
	assert.Equal(t, (Filter{}).Comparisons(), 0)
}

func TestAPropertyOfAnyTypeIsComparedWithEveryLiteral(t *testing.T) {
	s := Schema{"X": Any}
	for _, value := range []any{"a", int32(1), int64(1), 1.5, true} {
		assert.Equal(t, Prop("X").Eq(value).Check(s), nil, value)
	}
}

func TestCheckAgainstASchema(t *testing.T) {
	schema := Schema{"Age": Int32, "Salary": Int64, "Name": String}
	for _, tt := range []struct {
		f      Filter
		reason string
	}{
		{Filter{}, ""},
		{And(PartitionKey.Eq("a"), RowKey.Prefix("b"), Prop("Age").Ge(int32(30)), Prop("Salary").Lt(5), Prop("Name").Ne("x")), ""},
		{Prop("Age").Ge(30), `property "Age": the property is of type Int32, the literal of type Int64`},
		{Prop("Salary").Ge(int32(30)), "ends in L"},
		{Not(Prop("age").Ge(int32(30))), `property "age": not in the schema`},
		{RowKey.Eq(5), `property "RowKey": the property is of type String`},
		{Timestamp.Ge("2026-01-01"), `property "Timestamp": the property is of type DateTime`},
		{Prop("Age").Ge(nil), "null"},
	} {
		err := tt.f.Check(schema)
		if tt.reason == "" && err != nil || tt.reason != "" && (err == nil || !strings.Contains(err.Error(), tt.reason)) {
			t.Errorf("%q: %v, want %q", tt.f, err, tt.reason)
		}
	}
}
