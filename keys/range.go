package keys

import "unicode/utf8"

// Range is the half-open interval [From, To) of key texts, in the order of Compare. An
// empty To means no upper bound, so the zero Range contains every key. A Range whose To
// is not empty and not above From is empty. A Range may be read
// concurrently.
type Range struct{ From, To string }

// Contains reports whether s is in the range.
func (r Range) Contains(s string) bool {
	return Compare(r.From, s) <= 0 && (r.To == "" || Compare(s, r.To) < 0)
}

// Under returns the range of the same keys with lead prepended to each: the range
// ["a", "b") under "email_" is ["email_a", "email_b"). If r has no upper bound, the
// result has that of Prefix(lead).
func (r Range) Under(lead string) Range {
	if r.To == "" {
		return Range{From: lead + r.From, To: Prefix(lead).To}
	}
	return Range{From: lead + r.From, To: lead + r.To}
}

// Prefix returns the range that contains exactly the legal keys that begin with p:
// Prefix("email_a") is ["email_a", "email_b"). Prefix("") contains every key.
//
// The upper bound is p with its last character replaced by the next character that is
// legal in a key. Trailing characters without a next one are dropped; if no character
// is left, there is no upper bound. If p is not valid UTF-8, such as text that was cut
// inside a character, no legal key begins with it, and the range is empty.
//
// For text that Escape returned, use EscapedPrefix: the escaped forms of "a." and "a/"
// begin with the same characters.
func Prefix(p string) Range {
	if !utf8.ValidString(p) {
		return Range{From: p, To: p}
	}
	for head := p; head != ""; {
		r, size := utf8.DecodeLastRuneInString(head)
		head = head[:len(head)-size]
		if next, ok := nextRune(r); ok {
			return Range{From: p, To: head + string(next)}
		}
	}
	return Range{From: p}
}

// nextRune returns the next character after r in UTF-16 order that is legal in a key.
// The surrogates D800 to DFFF encode the characters above U+FFFF, so these sort
// between U+D7FF and U+E000, and U+FFFF is the last character.
func nextRune(r rune) (rune, bool) {
	for {
		switch r {
		case 0xD7FF:
			return 0x10000, true
		case utf8.MaxRune:
			return 0xE000, true
		case 0xFFFF:
			return 0, false
		}
		if r++; !forbidden(r) {
			return r, true
		}
	}
}

// only returns the range that contains the legal key s and no other legal key. The
// space is the least character of a key, so no legal key is between s and s+" ". If s
// has the maximum length, no longer key begins with it, so its prefix range contains
// only s, and the bound of that range is not longer than a key.
func only(s string) Range {
	if unitsAbove([]byte(s), MaxUnits-1) {
		return Prefix(s)
	}
	return Range{From: s, To: s + " "}
}
