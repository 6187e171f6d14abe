package keys

import "unicode/utf8"

// Range is the half open interval [From, To) of key texts, in the order of
// Compare. To "" means no upper bound, so the zero Range holds every key. A Range
// whose To is not above From holds none.
type Range struct{ From, To string }

// Contains reports whether s lies in the range.
func (r Range) Contains(s string) bool {
	return Compare(r.From, s) <= 0 && (r.To == "" || Compare(s, r.To) < 0)
}

// Under gives the range of the same keys with lead in front of each: the range
// ["a", "b") under "email_" is ["email_a", "email_b"). A missing upper bound
// becomes that of Prefix(lead).
func (r Range) Under(lead string) Range {
	if r.To == "" {
		return Range{From: lead + r.From, To: Prefix(lead).To}
	}
	return Range{From: lead + r.From, To: lead + r.To}
}

// Prefix gives the range that holds exactly the legal keys that begin with p,
// "email_a" -> ["email_a", "email_b"). Prefix("") holds every key.
//
// The upper bound is p with its last character replaced by the next one that may
// stand in a key; characters at the end that have no next one are dropped, and
// where none is left there is no upper bound. A p that is not valid UTF-8, such as
// one cut within a character, is the beginning of no text, and its range is
// empty.
//
// For text that went through Escape, take EscapedPrefix, which knows that "a."
// and "a/" begin alike when they are escaped.
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

// nextRune gives the character that follows r in UTF-16 order among those that
// may stand in a key. The surrogates D800 to DFFF stand for the characters above
// U+FFFF, so these come between U+D7FF and U+E000, and U+FFFF is the last of all.
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

// only gives the range that holds the legal key s and no other: the least
// character of a key is the space, so nothing legal lies between s and s+" ".
// Nothing follows a key of full length, so there its prefix range does, with a
// bound that is no longer than a key.
func only(s string) Range {
	if unitsAbove([]byte(s), MaxUnits-1) {
		return Prefix(s)
	}
	return Range{From: s, To: s + " "}
}
