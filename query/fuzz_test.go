package query

import (
	"encoding/binary"
	"github.com/azpatterns/azpatterns/internal/assert"
	"math"
	"strings"
	"testing"
	"time"
)

// FuzzParse checks that no text makes Parse panic, that every filter has one canonical
// text, and that every parsed filter can be explained and matched.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", " ", "PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322')",
		"RowKey ge '000123_' and RowKey lt '000123`'", "not (A eq 1) or not B", "30 lt Age",
		"A eq 5L and B eq 1.5e-3 and C eq 3D and D eq -0.0", "G eq guid'a455c695-df98-5678-aaaa-81d3367e5a34'",
		"T ge datetime'2026-01-02T03:04:05.1234567Z'", "T ge datetime'2026-01-02'", "P eq X'00ff' or P eq binary''",
		"((((A eq 1))))", "not not not A", "A eq 'o''clock'", "A eq ''''", "A eq 'x", "startswith(A,'b')", "A add 1 eq 2",
		"A eq null", "A eq B", "1 eq 1", "(A eq 1) eq true", "A eq NaN", "A eq 2147483648", "A eq 1.5M", "Größe eq 1",
		"A eq '\U0001F600'", "A eq '\x00'", "\xff", "A eq '\xff'", "A\u00a0eq\u20091", "PartitionKey lt ''",
		strings.Repeat("(", 300) + "A" + strings.Repeat(")", 300), strings.Repeat("not ", 300) + "A",
		"PartitionKey gt 'a\x00' and PartitionKey le 'a\x00' and RowKey ne ''",
	} {
		f.Add(s)
	}
	row := Values{"PartitionKey": "a", "RowKey": "b", "A": int32(1), "B": true}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err != nil {
			if se := err.(*SyntaxError); se.Offset < 0 || se.Offset > len(text) {
				t.Fatalf("offset %d in a text of %d bytes", se.Offset, len(text))
			}
			assert.Failed(assert.Now(t), assert.ErrorOf(Parse(got.String())), "the text of an invalid filter is valid", got)
			return
		}
		canonical := got.String()
		back, err := Parse(canonical)
		if err != nil || !back.Equal(got) || back.String() != canonical {
			t.Fatalf("%q -> %q -> %q, %v", text, canonical, back, err)
		}
		plan := Explain(got)
		_ = plan.String()
		match := false
		for _, r := range plan.Reads() {
			if r.Filter.Match(row) {
				if match {
					t.Fatalf("%q: two reads match the same row", text)
				}
				match = true
			}
		}
		assert.Equal(assert.Now(t), match, got.Match(row), text, "matches: rewritten", "unchanged", !match)
	})
}

// FuzzLiteral checks that no value changes the structure of a filter: parsing the text
// returns exactly the tree that was built.
func FuzzLiteral(f *testing.F) {
	for _, s := range weird {
		f.Add(byte(0), s)
	}
	for kind := byte(1); kind < 8; kind++ {
		f.Add(kind, "")
		f.Add(kind, "12345678")
		f.Add(kind, "\xff\xff\xff\xff\xff\xff\xff\xff''''''''")
		f.Add(kind, "\x00\x00\x00\x00\x00\x00\xf0\x7f")
		f.Add(kind, "\x01")
	}
	f.Fuzz(func(t *testing.T, kind byte, data string) {
		v := fuzzValue(kind, data)
		other, last := Prop("Secret").Eq(true), PartitionKey.Ne("z")
		eq := Prop("A").Eq(v)
		if eq.Err() != nil {
			for _, broken := range []Filter{eq, And(other, eq), Or(eq, other), Not(eq), Prop("A").In(1, v)} {
				if _, err := Parse(broken.String()); err == nil || broken.Err() == nil {
					t.Fatalf("an invalid filter has the text %q", broken)
				}
			}
			return
		}
		for _, want := range []Filter{
			eq,
			And(eq, other),
			And(other, eq, last),
			Or(other, And(last, Not(eq))),
			And(Prop("A").In(v, "x", v), other),
			And(Prop("A").Range(v, v), other),
		} {
			got, err := Parse(want.String())
			if err != nil || !got.Equal(want) || got.Comparisons() != want.Comparisons() {
				t.Fatalf("%q is parsed to %q, %v", want, got, err)
			}
		}
		if s, ok := v.(string); ok {
			for _, want := range []Filter{And(RowKey.Prefix(s), other), And(Prop("A").Prefix(s), other)} {
				if got, err := Parse(want.String()); err != nil || !got.Equal(want) {
					t.Fatalf("%q is parsed to %q, %v", want, got, err)
				}
			}
		}
		if !eq.Match(Values{"A": v}) {
			t.Fatalf("%q does not match its own value", eq)
		}
	})
}

// fuzzValue returns a value made of data. kind selects its type.
func fuzzValue(kind byte, data string) any {
	var b [16]byte
	copy(b[:], data)
	bits := binary.LittleEndian.Uint64(b[:])
	switch kind % 8 {
	case 1:
		return int32(bits)
	case 2:
		return int64(bits)
	case 3:
		return math.Float64frombits(bits)
	case 4:
		return bits&1 == 1
	case 5:
		return time.Unix(int64(bits)>>24, int64(b[15]))
	case 6:
		return []byte(data)
	case 7:
		return b
	}
	return data
}
