package keys

import (
	"strings"
	"unicode/utf8"
)

// How Escape keeps the order.
//
// Write M for the mark U+FFEE. A character that must not appear is written as
// the character just below it that may, its base, followed by M; where several
// neighbours share a base, one more character tells which:
//
//	base      stands for            written
//	space     U+0000 .. U+001F      space M 0 .. space M V
//	"         #                     " M
//	.         /                     . M
//	>         ?                     > M
//	[         \                     [ M
//	^         _                     ^ M
//	~         U+007F .. U+009F      ~ M 0 .. ~ M W
//	U+FFED    M .. U+FFFF           U+FFED M 0 .. U+FFED M H
//
// Everything else stays. So what a character is written as begins with a UTF-16
// unit below M, and therefore so does any escaped text that is not empty. Let c
// come before d in UTF-16 order. What c and d are written as differ, at
//
//   - the first unit, when neither is the base of the other and they do not share
//     one; bases are the nearest characters below that are left alone, so the
//     order is that of c and d (a character above U+FFFF may share its first
//     unit with another one; then the second decides, as in the input);
//   - the last unit, when c and d share a base; it grows with the character;
//   - the second unit, when c is the base of d: there d has M, and c has nothing
//     or the beginning of further escaped text, which is below M.
//
// So two texts compare as their first different characters do, and as nothing
// against something when one is the beginning of the other. The one exception is
// the row of U+0000 to U+001F: no key text sorts below a space, so these sort
// just above it instead of just below.
//
// No writing of a character is the beginning of another character's writing and
// rest, since M after a base is never the beginning of escaped text; hence text
// is read back in one way only.
//
// Why U+FFEE: the mark has to be above all that is written as it is, so that the
// higher it is, the fewer characters it costs. U+FFEE is the highest assigned
// character that an address may hold by RFC 3987 (U+FFEF ends that range), and one
// that is seen on a screen. U+FFFF would spare a row of the table but is no
// character: XML forbids it and tools drop it.
const (
	mark     = '\uFFEE'
	markText = string(mark)
	// which tells apart the characters of one base. Its order is ASCII's.
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

// Escape writes any text as text that may stand in a key and that never holds
// "_", the separator of Layout. Unescape reads it back.
//
// Letters, digits, space and - . @ + , : ; = ! ( ) & * ' ~ stay as they are, so
// an e-mail address stays readable, and so does everything else but / \ # ? _,
// the control characters, and U+FFEE to U+FFFF. The former five become two
// characters: "/" becomes "." followed by U+FFEE, HALFWIDTH WHITE CIRCLE.
//
// Order stays: Compare(Escape(a), Escape(b)) equals Compare(a, b) for all texts
// without the control characters U+0000 to U+001F. Those sort just above the
// space instead of just below it, in their own order.
//
// Escaping goes character by character: Escape(a+b) is Escape(a)+Escape(b).
// Hence the escaped beginning of a text begins the escaped text. The reverse
// needs care: Escape("a/") begins with Escape("a."). EscapedPrefix is exact.
//
// Escape checks neither the length, which at most trebles in UTF-16 units, nor
// the encoding: text that is not valid UTF-8 stays so, for Key.Validate to find.
func Escape(s string) string {
	i := touched(s)
	if i == len(s) {
		return s
	}
	dst := make([]byte, 0, len(s)+4*len(markText))
	return string(appendEscape(append(dst, s[:i]...), s[i:]))
}

// EscapedPrefix gives the range that, among escaped texts, holds exactly
// Escape(t) for every t that begins with p. Use Range.Under to put a fixed text
// in front: EscapedPrefix("ann.").Under("email_").
func EscapedPrefix(p string) Range {
	from := Escape(p)
	return Range{From: from, To: from + markText}
}

// Unescape reads back what Escape wrote. Text that Escape cannot have written is
// an *Error, so Escape(Unescape(s)) is s wherever there is no error.
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

// restore gives the character that base, the mark and the beginning of rest
// stand for, and how many bytes of rest it took.
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

// touched gives the offset of the first character that Escape changes, or
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

// checkUTF8 reports text that is not valid UTF-8.
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
