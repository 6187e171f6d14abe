package keys_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func TestPrefixReplacesTheLastCharacterByTheNext(t *testing.T) {
	for _, c := range []struct{ prefix, to string }{
		{"", ""},
		{"email_a", "email_b"},
		{"email_", "email`"},
		{"000123_", "000123`"},
		{"a.", "a0"}, {`a"`, "a$"}, {"a>", "a@"}, {"a[", "a]"}, {"a~", "a\u00A0"},
		{"a\uD7FF", "a\U00010000"},
		{"a😀", "a😁"},
		{"a\U000103FF", "a\U00010400"},
		{"a\U0010FFFF", "a\uE000"},
		{"a\uFFFE", "a\uFFFF"},
		{"a\uFFFF", "b"}, {"a\uFFFF\uFFFF", "b"}, {"😀\uFFFF", "😁"},
		{"\uFFFF", ""}, {"\uFFFF\uFFFF", ""},
		{"a/", "a0"}, {"a\x00", "a "},
		{"a\xFF", "a\xFF"},
	} {
		assert.Equal(t, keys.Prefix(c.prefix), (keys.Range{From: c.prefix, To: c.to}), "Prefix", c.prefix)
	}
}

func TestPrefixContainsExactlyTheLegalKeysThatBeginWithIt(t *testing.T) {
	all := words(edges, 2)
	for _, p := range append(words(append(edges, illegal...), 1), "\uFFFF\uFFFF", "a\uFFFF", "a.", "😀\U0010FFFF", "\xFF", "a\xC3") {
		r := keys.Prefix(p)
		for _, s := range all {
			assert.Equal(assert.Now(t), r.Contains(s), strings.HasPrefix(s, p), "Prefix", p, "Contains", s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, s := anyText().Draw(t, "prefix"), legalText().Draw(t, "text")
		r := keys.Prefix(p)
		assert.Equal(assert.Now(t), r.Contains(s), strings.HasPrefix(s, p), "Prefix", p, "Contains", s)
		if legal(p) && (!r.Contains(p+s) || !legal(r.To) || units(r.To) > units(p)+1) {
			t.Fatalf("Prefix(%+q) = %+q", p, r)
		}
	})
}

func FuzzPrefix(f *testing.F) {
	f.Add("email_a", "email_b")
	f.Add("a\uD7FF", "a😀")
	f.Add("\uFFFF", "\uFFFFa")
	f.Add("\xF0", "😀")
	f.Fuzz(func(t *testing.T, p, s string) {
		if !utf8.ValidString(s) || !legal(s) {
			return
		}
		r := keys.Prefix(p)
		if want := utf8.ValidString(p) && strings.HasPrefix(s, p); r.Contains(s) != want {
			t.Fatalf("Prefix(%+q).Contains(%+q) = %t", p, s, !want)
		}
		if utf8.ValidString(p) && legal(p) && !r.Contains(p+s) {
			t.Fatalf("Prefix(%+q) does not contain %+q", p, p+s)
		}
	})
}

func TestRangeIsHalfOpen(t *testing.T) {
	r := keys.Range{From: "b", To: "d"}
	for s, want := range map[string]bool{"a": false, "b": true, "cz": true, "d": false, "da": false} {
		assert.Equal(t, r.Contains(s), want, "Contains", s, !want)
	}
	if !(keys.Range{}).Contains("") || !(keys.Range{}).Contains("\uFFFF") {
		t.Error("the zero Range does not contain every key")
	}
	if !(keys.Range{From: "b"}).Contains("\uFFFF") || (keys.Range{From: "b"}).Contains("a") {
		t.Error(`a Range with an empty To has an upper bound`)
	}
	if (keys.Range{From: "b", To: "a"}).Contains("b") {
		t.Error("an inverted range is not empty")
	}
}

func TestUnderPrependsText(t *testing.T) {
	for _, c := range []struct{ in, want keys.Range }{
		{keys.Range{From: "a", To: "b"}, keys.Range{From: "email_a", To: "email_b"}},
		{keys.Range{From: "a"}, keys.Range{From: "email_a", To: "email`"}},
		{keys.Range{}, keys.Prefix("email_")},
	} {
		assert.Equal(t, c.in.Under("email_"), c.want, c.in, "Under =")
	}
	rapid.Check(t, func(t *rapid.T) {
		lead, s, other := legalText().Draw(t, "lead"), legalText().Draw(t, "text"), legalText().Draw(t, "other")
		r := keys.Range{From: legalText().Draw(t, "from"), To: legalText().Draw(t, "to")}
		under := r.Under(lead)
		assert.Equal(assert.Now(t), under.Contains(lead+s), r.Contains(s), r, "under", lead, s)
		if under.Contains(other) && !strings.HasPrefix(other, lead) {
			t.Fatalf("%+q under %+q contains %+q", r, lead, other)
		}
	})
}
