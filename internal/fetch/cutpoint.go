package fetch

import (
	"slices"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

// This file chooses where to cut a range of keys of which only a part was read.
//
// Both keys form one text, with a separator between them that sorts before every
// character of a key: a cut before the separator is one between partitions, a cut after
// it one within the partition. The text is examined level by level. A level is the index
// of a character. The deepest level of interest is the one that varies within a page.
// The highest level at which rows differ at all is searched for first, by probes at
// half the distance. Then the range is cut at that level, in the middle of the
// characters that keys consist of.

// separator is between partition key and row key.
const separator = 0

func textOf(k keys.Key) []rune {
	return append(append([]rune(k.Partition), separator), []rune(k.Row)...)
}

// textOfEnd is textOf for the end of a range, which may be that of a partition.
func textOfEnd(k keys.Key) []rune {
	if k.Row == "" {
		return []rune(k.Partition)
	}
	return textOf(k)
}

// commonPrefix is the number of characters that a and b begin with in common.
func commonPrefix(a, b []rune) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// alphabet is the ASCII characters that vary in the keys seen so far.
type alphabet [utf8.RuneSelf]bool

// add adds the characters of k, beginning with the first that differs from the earlier
// key.
func (a *alphabet) add(earlier, k keys.Key) {
	text := textOf(k)
	for _, r := range text[commonPrefix(textOf(earlier), text):] {
		if r != separator && r < utf8.RuneSelf {
			a[r] = true
		}
	}
}

// cutPoint is a key at which a segment may be cut, to be probed first.
type cutPoint struct {
	key keys.Key

	// explore marks a probe that only searches for the level at which rows differ. The
	// segment is not cut there.
	explore bool
}

// gap is the room that is left of a segment, at the highest level that has any.
type gap struct {
	last  []rune // the text of the last row
	level int
	a, b  int  // ranks of the characters around the room
	withB bool // the character of rank b is inside the room
}

// room finds the gap between the last row of g and its end. ok is false if it is less
// than a page.
func (g *segment) room() (r gap, ok bool) {
	end := textOfEnd(g.end)
	r = gap{last: textOf(g.last), b: topRank}
	bounded := g.end != (keys.Key{})
	if bounded {
		r.level = commonPrefix(r.last, end)
	}
	for deepest := g.varyingLevel(); r.level <= deepest; r.level++ {
		r.a, r.b, r.withB = -1, topRank, false
		if r.level < len(r.last) {
			r.a = rank(r.last[r.level])
		}
		if bounded && r.level < len(end) {
			r.b, r.withB = rank(end[r.level]), r.level+1 < len(end)
		}
		if lo, hi := r.inside(); lo <= hi {
			if _, ok := firstLegal(lo, hi); ok {
				return r, true
			}
		}
		bounded = false // the rest begins with the same character as last
	}
	return r, false
}

// varyingLevel is the deepest level of interest.
func (g *segment) varyingLevel() int {
	if g.first == g.last {
		return len(textOf(g.last))
	}
	return commonPrefix(textOf(g.first), textOf(g.last))
}

// size compares gaps of segments: the higher the level, the larger.
func (r gap) size() float64 {
	return float64(min(r.b, utf8.RuneSelf)-max(r.a, 0))/(2*utf8.RuneSelf) - float64(r.level)
}

// cutPoints chooses up to n keys to probe, in the gap r of g.
func (g *segment) cutPoints(r gap, known *alphabet, n int) (points []cutPoint) {
	border := slices.Index(r.last, separator)
	target := g.varyingLevel()
	if g.beyond != (keys.Key{}) && g.beyond.Compare(g.last) > 0 && !(keyRange{To: g.end}).endsBefore(g.beyond) {
		target = commonPrefix(r.last, textOf(g.beyond))
	}
	if r.level <= border {
		target = min(target, border)
	}
	add := func(text string, explore bool) {
		if key, ok := g.cutAt(r, border, text); ok {
			points = append(points, cutPoint{key, explore})
		}
	}
	if r.level < target {
		for _, level := range evenlySpaced(r.level, target-1, n) {
			add(textAfter(r.last[:level+1]), true)
		}
		return points
	}
	head := string(r.last[:r.level])
	for _, c := range cutCharacters(r, known, n) {
		add(head+string(c), false)
	}
	return points
}

// cutAt converts a text to a key. ok is false if g cannot be cut there.
func (g *segment) cutAt(r gap, border int, text string) (key keys.Key, ok bool) {
	key = keys.Key{Partition: text}
	if r.level > border {
		head := len(string(r.last[:border]))
		key = keys.Key{Partition: text[:head], Row: text[head+1:]}
	}
	rest := keyRange{key, g.end}
	return key, key.Validate() == nil && key.Compare(g.last) > 0 && !rest.endsBefore(key) && (key.Row == "" || rest.single())
}

// evenlySpaced returns up to n of the numbers from lo to hi, at even distances.
func evenlySpaced(lo, hi, n int) []int {
	count := hi - lo + 1
	out := make([]int, 0, min(n, max(count, 0)))
	for i := range cap(out) {
		out = append(out, lo+(i+1)*count/(cap(out)+1))
	}
	return slices.Compact(out)
}

// textAfter is the least text after all that begin with text.
func textAfter(text []rune) string {
	if n := len(text) - 1; text[n] == separator {
		return string(text[:n]) + " "
	}
	return keys.Prefix(string(text)).To
}

// inside returns the ranks of the first and the last character in the gap.
func (r gap) inside() (lo, hi int) {
	if lo = max(r.a+1, ' '); r.withB {
		return lo, r.b
	}
	return lo, r.b - 1
}

// cutCharacters chooses up to n characters to cut at: of those that are known to vary in
// keys, otherwise of letters and digits, otherwise of all.
func cutCharacters(r gap, known *alphabet, n int) []rune {
	lo, hi := r.inside()
	var set []rune
	for _, likely := range []func(c int) bool{
		func(c int) bool { return known[c] },
		func(c int) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' },
	} {
		for c := lo; c <= min(hi, len(known)-1); c++ {
			if likely(c) {
				set = append(set, rune(c))
			}
		}
		if len(set) > 0 {
			for i, at := range evenlySpaced(0, len(set)-1, n) {
				set[i] = set[at]
			}
			return set[:min(n, len(set))]
		}
	}
	for _, c := range evenlySpaced(lo, hi, n) {
		if c, ok := firstLegal(c, hi); ok {
			set = append(set, c)
		}
	}
	return slices.Compact(set)
}

// firstLegal is the first character that keys may contain of those with ranks lo to hi.
func firstLegal(lo, hi int) (rune, bool) {
	for ; lo <= hi; lo++ {
		if r := ofRank(lo); keys.Check("", string(r)) == nil {
			return r, true
		}
	}
	return 0, false
}

// The rank of a character is its index in the order of UTF-16 units: surrogates, which
// encode U+10000 and above, come before U+E000.
const (
	firstSurrogate = 0xD800
	lastSurrogate  = 0xDFFF
	supplementary  = utf8.MaxRune + 1 - 0x10000
	topRank        = utf8.MaxRune + 1 - (lastSurrogate + 1 - firstSurrogate)
)

func rank(r rune) int {
	switch {
	case r < firstSurrogate:
		return int(r)
	case r > 0xFFFF:
		return int(r) - 0x10000 + firstSurrogate
	}
	return int(r) - (lastSurrogate + 1) + firstSurrogate + supplementary
}

// ofRank is the inverse of rank.
func ofRank(n int) rune {
	switch {
	case n < firstSurrogate:
		return rune(n)
	case n < firstSurrogate+supplementary:
		return rune(n - firstSurrogate + 0x10000)
	}
	return rune(n - firstSurrogate - supplementary + lastSurrogate + 1)
}
