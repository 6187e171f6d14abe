package keys_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

const mark = "\uFFEE"

func TestEscapeReturnsTheDocumentedText(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"Jones":                   "Jones",
		"jonesj@contoso.com":      "jonesj@contoso.com",
		"az AZ 09-.@+,:;=!()&*'~": "az AZ 09-.@+,:;=!()&*'~",
		"é漢😀%\u00A0\uFFED\uE000":  "é漢😀%\u00A0\uFFED\uE000",
		"a/b":                     "a." + mark + "b",
		"#":                       `"` + mark,
		"?":                       ">" + mark,
		`\`:                       "[" + mark,
		"_":                       "^" + mark,
		"\x00":                    " " + mark + "0",
		"\t":                      " " + mark + "9",
		"\x1F":                    " " + mark + "V",
		"\x7F":                    "~" + mark + "0",
		"\u009F":                  "~" + mark + "W",
		mark:                      "\uFFED" + mark + "0",
		"\uFFFD":                  "\uFFED" + mark + "F",
		"\uFFFF":                  "\uFFED" + mark + "H",
	} {
		assert.Equal(t, keys.Escape(in), want, "Escape", in)
		assert.Equal(t, assert.Must(keys.Unescape(want))(t), in)
	}
}

// allRunes returns every character, in UTF-16 order.
func allRunes() []rune {
	var all []rune
	for r := rune(0); r <= 0xD7FF; r++ {
		all = append(all, r)
	}
	for r := rune(0x10000); r <= utf8.MaxRune; r++ {
		all = append(all, r)
	}
	for r := rune(0xE000); r <= 0xFFFF; r++ {
		all = append(all, r)
	}
	return all
}

func TestEscapeOfEveryCharacter(t *testing.T) {
	before := ""
	var changed []rune
	for _, r := range allRunes() {
		s := string(r)
		escaped := keys.Escape(s)
		checkEscape(t, s)
		if escaped != s {
			changed = append(changed, r)
		}
		if r > ' ' && keys.Compare(before, escaped) >= 0 {
			t.Fatalf("%U does not sort after its predecessor", r)
		}
		before = escaped
	}
	// 32 + 33 control characters, 4 forbidden characters, the separator, the mark and
	// the 17 characters above it.
	assert.Equal(t, len(changed), 32+33+4+1+18, "Escape changes", "characters", changed)
}

func TestEscapePreservesTheOrderOfAllShortTexts(t *testing.T) {
	alphabet := append(slices.Clone(edges), []rune("/\\#?\x7F\u0080\u009F")...)
	all := words(alphabet, 3)
	slices.SortFunc(all, compare16)
	for i := 1; i < len(all); i++ {
		if a, b := keys.Escape(all[i-1]), keys.Escape(all[i]); compare16(a, b) >= 0 {
			t.Fatalf("%+q < %+q, but escaped %+q >= %+q", all[i-1], all[i], a, b)
		}
	}
}

func TestLowControlCharactersSortJustAboveTheSpace(t *testing.T) {
	all := []string{" ", " ~", " 😀", " \uFFED"}
	for r := rune(0); r < ' '; r++ {
		all = append(all, string(r), string(r)+"\uFFED")
	}
	all = append(all, "!", "a")
	for i := 1; i < len(all); i++ {
		if keys.Compare(keys.Escape(all[i-1]), keys.Escape(all[i])) >= 0 {
			t.Errorf("%+q does not sort before %+q", all[i-1], all[i])
		}
	}
}

func checkEscape(t assert.T, s string) {
	t.Helper()
	escaped := keys.Escape(s)
	if !utf8.ValidString(escaped) || !legal(escaped) || strings.Contains(escaped, "_") {
		t.Fatalf("Escape(%+q) = %+q cannot be part of a key", s, escaped)
	}
	if units(escaped) > 3*units(s) {
		t.Fatalf("Escape(%+q) is more than three times as long", s)
	}
	if back, err := keys.Unescape(escaped); err != nil || back != s {
		t.Fatalf("Unescape(Escape(%+q)) = %+q, %v", s, back, err)
	}
}

func checkEscapePair(t assert.T, a, b string) {
	t.Helper()
	low := func(r rune) bool { return r < ' ' }
	if !strings.ContainsFunc(a+b, low) {
		if got, want := compare16(keys.Escape(a), keys.Escape(b)), compare16(a, b); got != want {
			t.Fatalf("order of %+q and %+q: %d escaped, %d unescaped", a, b, got, want)
		}
	}
	assert.Equal(assert.Now(t), keys.Escape(a) == keys.Escape(b), a == b, a, b, "have the same escaped text, or equal texts do")
	assert.Equal(assert.Now(t), keys.Escape(a+b), keys.Escape(a)+keys.Escape(b), "Escape", a, "+", b, "is not the concatenation")
	if got, want := keys.EscapedPrefix(a).Contains(keys.Escape(b)), strings.HasPrefix(b, a); got != want {
		t.Fatalf("EscapedPrefix(%+q) and %+q: %t, want %t", a, b, got, want)
	}
	if !keys.EscapedPrefix(a).Contains(keys.Escape(a + b)) {
		t.Fatalf("EscapedPrefix(%+q) does not contain %+q", a, a+b)
	}
}

func TestEscapeOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, common := anyText().Draw(t, "a"), anyText().Draw(t, "b"), anyText().Draw(t, "common")
		checkEscape(t, a)
		checkEscapePair(t, a, b)
		checkEscapePair(t, common+a, common+b)
	})
}

func TestEscapedPrefixOfAllShortTexts(t *testing.T) {
	all := words(append(slices.Clone(edges), illegal...), 2)
	for _, p := range words(append(slices.Clone(edges), illegal...), 1) {
		r := keys.EscapedPrefix(p)
		for _, s := range all {
			assert.Equal(assert.Now(t), r.Contains(keys.Escape(s)), strings.HasPrefix(s, p), "EscapedPrefix", p, "and", s)
		}
	}
}

func TestUnescapeRejectsTextThatEscapeDoesNotReturn(t *testing.T) {
	for _, c := range []struct {
		in     string
		reason keys.Reason
	}{
		{"abcd_", keys.UnexpectedRune}, {"abcd/", keys.UnexpectedRune}, {"abcd\x00", keys.UnexpectedRune},
		{"abcd\u0085", keys.UnexpectedRune}, {mark, keys.UnexpectedRune}, {"abcd" + mark, keys.UnexpectedRune},
		{"." + mark + mark, keys.UnexpectedRune}, {" " + mark, keys.UnexpectedRune}, {" " + mark + "W", keys.UnexpectedRune},
		{"~" + mark + "X", keys.UnexpectedRune}, {"~" + mark + "a", keys.UnexpectedRune}, {"\uFFED" + mark + "I", keys.UnexpectedRune},
		{"\uFFFF", keys.UnexpectedRune}, {"\uFFEF", keys.UnexpectedRune},
		{"abcd\xFF", keys.InvalidUTF8}, {"." + mark + "\xFF", keys.InvalidUTF8},
	} {
		_, err := keys.Unescape(c.in)
		mustFail(t, err, c.reason, c.in)
	}
}

func TestUnescapeIsTheInverseOfAllShortTexts(t *testing.T) {
	for _, s := range words(append(slices.Clone(edges), '/', 0, 'V', 'W', 'X', 'H', 'I'), 3) {
		checkUnescape(t, s)
	}
}

func checkUnescape(t assert.T, s string) {
	t.Helper()
	text, err := keys.Unescape(s)
	if err != nil {
		assert.Equal(assert.Now(t), text, "", "Unescape", s, "returns text and an error")
		return
	}
	assert.Equal(assert.Now(t), keys.Escape(text), s, "Unescape accepts", "which Escape does not return")
}

func TestEscapeLeavesInvalidTextInvalid(t *testing.T) {
	for _, s := range []string{"\xFF", "a/\xC2", "\xC2/", "\xEF\xBF/\xAE", "\xED\xA0\x80_"} {
		mustFail(t, keys.Key{Row: keys.Escape(s)}.Validate(), keys.InvalidUTF8, s)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("jonesj@contoso.com", "a/b")
	f.Add("a.", "a/")
	f.Add("\x00\x1F ", "\x7F~")
	f.Add("\uFFEE", "\uFFED\uFFEE0")
	f.Add("_", "^")
	f.Add("\xC2", "\x85")
	f.Fuzz(func(t *testing.T, a, b string) {
		checkUnescape(t, a)
		assert.Equal(assert.Now(t), utf8.ValidString(keys.Escape(a)), utf8.ValidString(a), "Escape", a, "changes validity")
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		checkEscape(t, a)
		checkEscapePair(t, a, b)
	})
}
