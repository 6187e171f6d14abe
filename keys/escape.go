package keys

import (
	"strings"
	"unicode/utf8"
)

// How Escape keeps the order.
//
// Let M be the mark U+FFEE. A character that must not appear is written as its
// base, which is the nearest allowed character below it, followed by M. If several
// characters share a base, one more character distinguishes them:
//
//	base      encodes               written
//	space     U+0000 .. U+001F      space M 0 .. space M V
//	"         #                     " M
//	.         /                     . M
//	>         ?                     > M
//	[         \                     [ M
//	^         _                     ^ M
//	~         U+007F .. U+009F      ~ M 0 .. ~ M W
//	U+FFED    M .. U+FFFF           U+FFED M 0 .. U+FFED M H
//
// All other characters are unchanged. So the encoding of every character begins
// with a UTF-16 unit below M, and therefore so does every escaped text that is not
// empty. Let c be less than d in UTF-16 order. Their encodings differ in
//
//   - the first unit, if neither is the base of the other and they do not share a
//     base. Bases are the nearest unchanged characters below, so this unit orders
//     the encodings as c and d. (Two characters above U+FFFF can share the first
//     unit; then the second one orders them, as in the input.)
//   - the last unit, if c and d share a base; that unit increases with the character.
//   - the second unit, if c is the base of d: d has M at that position, and c has
//     either the end of the text or the first unit of further escaped text, which is
//     below M.
//
// So two escaped texts compare like the first characters in which the inputs differ,
// and the escaped text of a prefix compares less. The only exception is U+0000 to
// U+001F: no key text sorts below a space, so these sort just above the space
// instead of just below it.
//
// Decoding is unambiguous: M after a base is never the beginning of escaped text, so
// no encoding of a character is the beginning of the encoding of another text.
//
// U+FFEE is the mark because the mark has to be above every unchanged character, and
// every character above the mark costs an encoding. It is the highest assigned
// character that RFC 3987 allows in an address (that range ends at U+FFEF), and it is
// visible. U+FFFF would need no encoding for characters above it, but it is a
// noncharacter: XML forbids it, and tools drop it.
const (
	mark     = '\uFFEE'
	markText = string(mark)
	// which distinguishes the characters that share a base. It is in ASCII order.
	which = "0123456789ABCDEFGHIJKLMNOPQRSTUVW"
)

// gap is a run of characters that must not appear, and the base they share.
type gap struct{ base, first, last rune }

var gaps = [...]gap{
	{' ', 0x00, 0x1F},
	{'"', '#', '#'},
	{'.', '/', '/'},
	{'>', '?', '?'},
	{'[', '\\', '\\'},
	{'^', '_', '_'},
	{'~', 0x7F, 0x9F},
	{mark - 1, mark, 0xFFFF},
}

// Escape encodes any text as text that is legal in a key and does not contain "_",
// the separator of Layout. Unescape is its inverse.
//
// It changes only / \ # ? _, the control characters, and U+FFEE to U+FFFF. All other
// characters are unchanged, including letters, digits, space and
// - . @ + , : ; = ! ( ) & * ' ~, so an e-mail address stays readable. Each of
// / \ # ? _ becomes two characters: "/" becomes "." followed by U+FFEE, HALFWIDTH
// WHITE CIRCLE.
//
// Order is preserved: Compare(Escape(a), Escape(b)) equals Compare(a, b) for all
// texts without the control characters U+0000 to U+001F. Those sort just above the
// space instead of just below it, in their own order.
//
// Each character is escaped by itself: Escape(a+b) is Escape(a)+Escape(b). So if a
// text begins with p, its escaped form begins with Escape(p). The converse is false:
// Escape("a/") begins with Escape("a."). Use EscapedPrefix for an exact range.
//
// Escape does not check the length, which at most triples in UTF-16 units. Text that
// is not valid UTF-8 stays invalid, and Key.Validate reports it.
func Escape(s string) string {
	i := touched(s)
	if i == len(s) {
		return s
	}
	dst := make([]byte, 0, len(s)+4*len(markText))
	return string(appendEscape(append(dst, s[:i]...), s[i:]))
}

// EscapedPrefix returns the range that, among escaped texts, contains exactly
// Escape(t) for every t that begins with p. Use Range.Under to prepend a fixed text:
// EscapedPrefix("ann.").Under("email_").
func EscapedPrefix(p string) Range {
	from := Escape(p)
	return Range{From: from, To: from + markText}
}

// Unescape is the inverse of Escape. It returns an *Error for text that Escape does
// not produce, so if there is no error, Escape(Unescape(s)) is s.
func Unescape(s string) (string, error) { return unescape("Unescape", s) }

func unescape(part, s string) (string, error) {
	if touched(s) == len(s) {
		if err := checkUTF8(part, s); err != nil {
			return "", err
		}
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return "", &Error{Part: part, Reason: InvalidUTF8, Offset: i}
		}
		if _, ok := gapOf(r); ok {
			return "", &Error{Part: part, Reason: UnexpectedRune, Rune: r, Offset: i}
		}
		i += size
		if strings.HasPrefix(s[i:], markText) {
			restored, n, ok := restore(r, s[i+len(markText):])
			if !ok {
				return "", &Error{Part: part, Reason: UnexpectedRune, Rune: mark, Offset: i}
			}
			r, i = restored, i+len(markText)+n
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

// restore returns the character that is encoded by base, the mark and the beginning
// of rest, and the number n of bytes of rest that it used.
func restore(base rune, rest string) (r rune, n int, ok bool) {
	for _, g := range gaps {
		if g.base != base {
			continue
		}
		if g.first == g.last {
			return g.first, 0, true
		}
		if rest == "" {
			return 0, 0, false
		}
		at := strings.IndexByte(which, rest[0])
		if at < 0 || g.first+rune(at) > g.last {
			return 0, 0, false
		}
		return g.first + rune(at), 1, true
	}
	return 0, 0, false
}

func appendEscape(dst []byte, s string) []byte {
	for len(s) > 0 {
		i := touched(s)
		dst = append(dst, s[:i]...)
		if s = s[i:]; s == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		g, _ := gapOf(r)
		dst = utf8.AppendRune(dst, g.base)
		dst = append(dst, markText...)
		if g.first != g.last {
			dst = append(dst, which[r-g.first])
		}
		s = s[size:]
	}
	return dst
}

// touched returns the offset of the first character that Escape changes, or
// len(s).
func touched(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20, c == '#', c == '/', c == '?', c == '\\', c == '_', c == 0x7F:
			return i
		case c == 0xC2:
			if i+1 < len(s) && s[i+1] >= 0x80 && s[i+1] < 0xA0 {
				return i
			}
		case c == 0xEF:
			if len(s)-i >= len(markText) && s[i:i+3] >= markText && s[i+1] == 0xBF && s[i+2] <= 0xBF {
				return i
			}
		}
	}
	return len(s)
}

func gapOf(r rune) (gap, bool) {
	for _, g := range gaps {
		if r >= g.first && r <= g.last {
			return g, true
		}
	}
	return gap{}, false
}

// checkUTF8 returns an error if s is not valid UTF-8.
func checkUTF8(part, s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return &Error{Part: part, Reason: InvalidUTF8, Offset: i}
		}
		i += size
	}
	return nil
}
