package keys_test

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

// edges are the characters at which a rule begins or ends: the neighbours of
// forbidden characters, of surrogates, of the mark of Escape, and of the separator.
var edges = []rune(" !\"$'+-.09:>@AZ[]^_`az~\u00A0\u0130\uD7FF\uE000\uFFEC\uFFED\uFFEE\uFFEF\uFFFC\uFFFD\uFFFE\uFFFF" +
	"\U00010000\U000103FF\U00010400\U0001F600\U0010FFFF")

// illegal are characters that are not allowed in a key.
var illegal = []rune("/\\#?\x00\x01\t\n\x1F\x7F\u0080\u0085\u009F")

// legalText draws text that is legal in a key. It can be too long for one.
func legalText() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(edges), rapid.Rune()), 0, 8), func(rs []rune) string {
		return string(slices.DeleteFunc(rs, func(r rune) bool { return forbiddenByText(r) }))
	})
}

// anyText draws valid UTF-8.
func anyText() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.OneOf(rapid.SampledFrom(edges), rapid.SampledFrom(illegal), rapid.Rune()), 0, 8, -1)
}

// forbiddenByText implements the rule as the documentation of the data model states it.
func forbiddenByText(r rune) bool {
	return strings.ContainsRune(`/\#?`, r) || r <= 0x1F || r >= 0x7F && r <= 0x9F
}

func legal(s string) bool {
	return !strings.ContainsFunc(s, forbiddenByText)
}

// compare16 is the reference for the order: it compares UTF-16 units one by one.
func compare16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// words returns all texts of at most n characters of the alphabet.
func words(alphabet []rune, n int) []string {
	all := []string{""}
	for last := all; n > 0; n-- {
		var next []string
		for _, w := range last {
			for _, r := range alphabet {
				next = append(next, w+string(r))
			}
		}
		all = append(all, next...)
		last = next
	}
	return all
}

// mustFail checks that err is an error of this package with this reason, and that its
// message does not contain the secret.
func mustFail(t assert.T, err error, reason keys.Reason, secret string) {
	t.Helper()
	var e *keys.Error
	if !errors.As(err, &e) || !errors.Is(err, keys.ErrBadKey) {
		t.Fatalf("got %v, want a *keys.Error that matches ErrBadKey", err)
	}
	assert.Equal(assert.Now(t), e.Reason, reason, err, "reason")
	if len(secret) > 3 && strings.Contains(err.Error(), secret) {
		t.Fatalf("the message %q contains the text", err)
	}
}
