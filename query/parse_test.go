package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

func TestParseAcceptsEveryFormThatTheServiceAccepts(t *testing.T) {
	guid := [16]byte{0xa4, 0x55, 0xc6, 0x95, 0xdf, 0x98, 0x56, 0x78, 0xaa, 0xaa, 0x81, 0xd3, 0x36, 0x7e, 0x5a, 0x34}
	a, b, c := Prop("A").Eq(int32(1)), Prop("B").Eq(int32(2)), Prop("C").Eq(int32(3))
	for _, tt := range []struct {
		text string
		want Filter
	}{
		{"", Filter{}},
		{" \t\r\n", Filter{}},
		{"PartitionKey eq 'Sales'", PartitionKey.Eq("Sales")},
		{"Name ne 'o''clock'", Prop("Name").Ne("o'clock")},
		{"Name eq ''", Prop("Name").Eq("")},
		{"Name eq ''''", Prop("Name").Eq("'")},
		{"Age gt 30", Prop("Age").Gt(int32(30))},
		{"Age gt -30", Prop("Age").Gt(int32(-30))},
		{"Age gt 007", Prop("Age").Gt(int32(7))},
		{"Age eq 30L", Prop("Age").Eq(int64(30))},
		{"Age eq -9223372036854775808l", Prop("Age").Eq(int64(-9223372036854775808))},
		{"AmountDue le 100.25", Prop("AmountDue").Le(100.25)},
		{"AmountDue le 1e3", Prop("AmountDue").Le(1e3)},
		{"AmountDue le -1.5E-3", Prop("AmountDue").Le(-1.5e-3)},
		{"AmountDue le 1e+300", Prop("AmountDue").Le(1e300)},
		{"AmountDue le 3D", Prop("AmountDue").Le(3.0)},
		{"AmountDue le 3.5d", Prop("AmountDue").Le(3.5)},
		{"IsActive eq true", Prop("IsActive").Eq(true)},
		{"IsActive eq false", Prop("IsActive").Eq(false)},
		{"IsActive", Prop("IsActive").Eq(true)},
		{"not isAvailable", Not(Prop("isAvailable").Eq(true))},
		{"A eq 1 and isAvailable", And(a, Prop("isAvailable").Eq(true))},
		{"CustomerSince eq datetime'2008-07-10T00:00:00Z'", Prop("CustomerSince").Eq(time.Date(2008, 7, 10, 0, 0, 0, 0, time.UTC))},
		{"T lt DateTime'2008-07-10T02:00:00.1234567+02:00'", Prop("T").Lt(time.Date(2008, 7, 10, 0, 0, 0, 123456700, time.UTC))},
		{"T lt datetime'2008-07-10T00:00:00.5'", Prop("T").Lt(time.Date(2008, 7, 10, 0, 0, 0, 5e8, time.UTC))},
		{"T lt datetime'2008-07-10T10:30'", Prop("T").Lt(time.Date(2008, 7, 10, 10, 30, 0, 0, time.UTC))},
		{"T lt datetime'2008-07-10'", Prop("T").Lt(time.Date(2008, 7, 10, 0, 0, 0, 0, time.UTC))},
		{"T ge datetime'1601-01-01T00:00:00Z'", Prop("T").Ge(time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC))},
		{"T le datetime'9999-12-31T23:59:59.9999999Z'", Prop("T").Le(time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC))},
		{"G eq guid'a455c695-df98-5678-aaaa-81d3367e5a34'", Prop("G").Eq(guid)},
		{"G eq Guid'A455C695-DF98-5678-AAAA-81D3367E5A34'", Prop("G").Eq(guid)},
		{"P eq X'00ffA0'", Prop("P").Eq([]byte{0, 0xff, 0xa0})},
		{"P eq x''", Prop("P").Eq([]byte{})},
		{"P eq binary'0a'", Prop("P").Eq([]byte{10})},
		{"30 lt Age", Prop("Age").Gt(int32(30))},
		{"30 le Age", Prop("Age").Ge(int32(30))},
		{"30 gt Age", Prop("Age").Lt(int32(30))},
		{"30 ge Age", Prop("Age").Le(int32(30))},
		{"'x' eq Name", Prop("Name").Eq("x")},
		{"'x' ne Name", Prop("Name").Ne("x")},
		{"A eq 1 and B eq 2 or C eq 3", Or(And(a, b), c)},
		{"A eq 1 or B eq 2 and C eq 3", Or(a, And(b, c))},
		{"A eq 1 and (B eq 2 or C eq 3)", And(a, Or(b, c))},
		{"not A eq 1 and B eq 2", And(Not(a), b)},
		{"not (A eq 1 and B eq 2)", Not(And(a, b))},
		{"not(A eq 1)or(B eq 2)", Or(Not(a), b)},
		{"not not A eq 1", a},
		{"A eq 1 and B eq 2 and C eq 3", And(a, b, c)},
		{"A eq 1 and (B eq 2 and C eq 3)", And(a, b, c)},
		{"((A eq 1) or (B eq 2)) or C eq 3", Or(a, b, c)},
		{"(((A))) eq (1)", a},
		{"  A\teq\r\n1  ", a},
		{"Größe eq 1", Prop("Größe").Eq(int32(1))},
		{"X eq 1", Prop("X").Eq(int32(1))},
		{"datetime eq 1 and guid eq 2", And(Prop("datetime").Eq(int32(1)), Prop("guid").Eq(int32(2)))},
	} {
		got, err := Parse(tt.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.text, err)
			continue
		}
		assert.Equal(assert.Now(t), tt.want.Err(), nil, tt.text, "invalid expectation")
		if !got.Equal(tt.want) {
			t.Errorf("Parse(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestParseErrorsContainTheOffset(t *testing.T) {
	for _, tt := range []struct {
		text   string
		offset int
		reason string
	}{
		{"startswith(Name, 'a')", 0, "no functions"},
		{"A eq 1 and substringof('x', Name)", 11, "no functions"},
		{"A add 1 eq 2", 2, "no arithmetic"},
		{"A eq 1 mul 2", 7, "no arithmetic"},
		{"-A eq 1", 0, "no arithmetic"},
		{"A eq null", 5, "null"},
		{"null eq A", 0, "null"},
		{"A eq B", 5, "another property"},
		{"1 eq 1", 0, "two constants"},
		{"true", 0, "a constant is not a condition"},
		{"not true", 4, "a constant is not a condition"},
		{"A eq 1 and 'x'", 11, "a constant is not a condition"},
		{"(A eq 1) eq true", 9, "a condition cannot be compared"},
		{"A eq", 4, "expected a property, a constant"},
		{"A eq 1 and", 10, "expected a property, a constant"},
		{"and A eq 1", 0, "expected a property, a constant"},
		{"A eq 1 B eq 2", 7, "expected and, or"},
		{"A eq 1 eq 2", 7, "expected and, or"},
		{"A EQ 1", 2, "lower case"},
		{"A eq 1 AND B eq 2", 7, "lower case"},
		{"(A eq 1", 7, "closing parenthesis"},
		{"A eq 1)", 6, "closing parenthesis without"},
		{"()", 1, "expected a property"},
		{"A eq 'x", 5, "not closed"},
		{"A eq 'x''", 5, "not closed"},
		{"A eq \"x\"", 5, "unexpected character"},
		{"A eq 2147483648", 5, "ends in L"},
		{"A eq 9223372036854775808L", 5, "larger than an Int64"},
		{"A eq 1e999", 5, "larger than a Double"},
		{"A eq 1.", 7, "after the point"},
		{"A eq .5", 5, "unexpected character"},
		{"A eq 1e", 7, "exponent"},
		{"A eq 1.5M", 8, "suffix"},
		{"A eq 1.5L", 8, "suffix"},
		{"A eq 5and B eq 2", 6, "suffix"},
		{"A eq NaN", 5, "NaN"},
		{"A eq INF", 5, "NaN"},
		{"A eq datetime'yesterday'", 5, "not a time"},
		{"A eq datetime'2008-07-10T1:00:00Z'", 5, "not a time"},
		{"A eq datetime'2008-07-10T01:00:00,5Z'", 5, "not a time"},
		{"A eq datetime'2008-02-30T00:00:00Z'", 5, "not a time"},
		{"A eq datetime'2008-07-10T00:00:00.12345678Z'", 5, "fractional"},
		{"A eq datetime'1600-12-31T23:59:59Z'", 5, "1601"},
		{"A eq datetimeoffset'2008-07-10T00:00:00Z'", 5, "no literals of this type"},
		{"A eq guid'a455c695'", 5, "not a guid"},
		{"A eq guid'a455c695-df98-5678-aaaa-81d3367e5a3g'", 5, "not a guid"},
		{"A eq X'0'", 5, "hexadecimal"},
		{"A eq X'0g'", 5, "hexadecimal"},
		{"A eq time'PT1S'", 5, "no literals of this type"},
		{"A/B eq 1", 1, "unexpected character"},
		{"A eq 1\xff", 6, "UTF-8"},
		{"A eq '\xff'", 6, "UTF-8"},
		{strings.Repeat("a", 256) + " eq 1", 0, "255"},
		{strings.Repeat("(", 5000) + "A eq 1", 202, "too many levels"},
		{strings.Repeat("not ", 5000) + "A eq 1", 808, "too many levels"},
	} {
		f, err := Parse(tt.text)
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("Parse(%.60q) = %q, %v; want a SyntaxError", tt.text, f, err)
			continue
		}
		assert.Equal(t, se.Offset, tt.offset, tt.text)
		assert.Contains(t, se.Reason, tt.reason, tt.text)
		if f.Err() == nil || f.IsZero() || f.Match(Values{"A": int32(1)}) {
			t.Errorf("Parse(%.60q) returns a valid filter and an error", tt.text)
		}
	}
}

func TestParseReturnsTheSameTreeForTheTextOfAFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFilter(t)
		assert.Equal(assert.Now(t), f.Err(), nil, "invalid")
		got, err := Parse(f.String())
		assert.NoError(t, err, "Parse", f)
		if !got.Equal(f) {
			t.Fatalf("Parse(%q) = %q", f, got)
		}
	})
}

func TestParseAcceptsTheTextOfTheDeepestTree(t *testing.T) {
	a, b := Prop("A").Eq(int32(1)), Prop("B").Eq(int32(2))
	deepest := Filter{}
	for f, i := a, 0; f.Err() == nil; i++ {
		if i > 1000 {
			t.Fatal("the depth of a tree is not limited")
		}
		deepest = f
		f = Not(And(Or(f, b), b))
	}
	got, err := Parse(deepest.String())
	if err != nil || !got.Equal(deepest) {
		t.Fatalf("depth %d: %v", deepest.root.depth, err)
	}
}
