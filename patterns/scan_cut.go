package patterns

import (
	"slices"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

// Where to cut a range of keys of which only a part was seen.
//
// Both keys are one text here, with a mark between them that sorts before every
// character of a key: a cut in front of the mark is one between partitions, a cut
// behind it one within the partition. The text is looked at level by level, a
// level being the place of a character. What a page showed tells the deepest level
// of interest, the one that varies within a page. The highest level at which rows
// differ at all is searched for first, by probes at half the distance, and then cut in
// the middle of the characters that keys are made of.

// mark stands between partition key and row key.
const mark = 0

func levels(k keys.Key) []rune {
	return append(append([]rune(k.Partition), mark), []rune(k.Row)...)
}

// limitLevels is levels for an end, which may be that of a partition.
func limitLevels(k keys.Key) []rune {
	if k.Row == "" {
		return []rune(k.Partition)
	}
	return levels(k)
}

func common(a, b []rune) int {
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

// learn takes in the characters of k, which comes behind after, from where the two
// differ.
func (a *alphabet) learn(after, k keys.Key) {
	text := levels(k)
	for _, r := range text[common(levels(after), text):] {
		if r != mark && r < utf8.RuneSelf {
			a[r] = true
		}
	}
}

// place is where to look for the next row.
type place struct {
	at keys.Key

	// explore tells that a row found there shows the level only, and is no place to
	// cut yet.
	explore bool
}

// gap is the room that is left of a segment, at the highest level that has any.
type gap struct {
	last  []rune // what was read, up to here
	level int
	a, b  int  // ranks of the characters around the room
	more  bool // b itself is within
}

// room finds the gap between the last row of g and its end; ok is false where it is
// less than a page.
func (g *segment) room() (r gap, ok bool) {
	end := limitLevels(g.to)
	r = gap{last: levels(g.last), b: topRank}
	bounded := g.to != (keys.Key{})
	if bounded {
		r.level = common(r.last, end)
	}
	for deepest := g.varies(); r.level <= deepest; r.level++ {
		r.a, r.b, r.more = -1, topRank, false
		if r.level < len(r.last) {
			r.a = rank(r.last[r.level])
		}
		if bounded && r.level < len(end) {
			r.b, r.more = rank(end[r.level]), r.level+1 < len(end)
		}
		if lo, hi := r.between(); lo <= hi {
			if _, ok := legalFrom(lo, hi); ok {
				return r, true
			}
		}
		bounded = false // what is left begins with the same character as last
	}
	return r, false
}

// varies is the deepest level of interest.
func (g *segment) varies() int {
	if g.first == g.last {
		return len(levels(g.last))
	}
	return common(levels(g.first), levels(g.last))
}

// size compares the rooms of segments: the higher the level, the larger.
func (r gap) size() float64 {
	return float64(min(r.b, utf8.RuneSelf)-max(r.a, 0))/(2*utf8.RuneSelf) - float64(r.level)
}

// places chooses up to n keys to look at, in the gap r of g.
func (g *segment) places(r gap, known *alphabet, n int) (places []place) {
	border := slices.Index(r.last, mark)
	target := g.varies()
	if g.ahead != (keys.Key{}) && g.ahead.Compare(g.last) > 0 && !(span{To: g.to}).before(g.ahead) {
		target = common(r.last, levels(g.ahead))
	}
	if r.level <= border {
		target = min(target, border)
	}
	add := func(text string, explore bool) {
		if p, ok := g.placed(r, border, text); ok {
			places = append(places, place{p, explore})
		}
	}
	if r.level < target {
		for _, level := range spaced(r.level, target-1, n) {
			add(next(r.last[:level+1]), true)
		}
		return places
	}
	head := string(r.last[:r.level])
	for _, c := range characters(r, known, n) {
		add(head+string(c), false)
	}
	return places
}

// placed is text as a key at which g can be cut.
func (g *segment) placed(r gap, border int, text string) (keys.Key, bool) {
	at := keys.Key{Partition: text}
	if r.level > border {
		head := len(string(r.last[:border]))
		at = keys.Key{Partition: text[:head], Row: text[head+1:]}
	}
	rest := span{at, g.to}
	return at, at.Validate() == nil && at.Compare(g.last) > 0 && !rest.before(at) && (at.Row == "" || rest.single())
}

// spaced gives up to n of the numbers from lo to hi, at even distances.
func spaced(lo, hi, n int) []int {
	count := hi - lo + 1
	out := make([]int, 0, min(n, max(count, 0)))
	for i := range cap(out) {
		out = append(out, lo+(i+1)*count/(cap(out)+1))
	}
	return slices.Compact(out)
}

// next is the least text behind all that begin with text.
func next(text []rune) string {
	if n := len(text) - 1; text[n] == mark {
		return string(text[:n]) + " "
	}
	return keys.Prefix(string(text)).To
}

// between gives the ranks of the characters in the gap, the first and the last.
func (r gap) between() (lo, hi int) {
	if lo = max(r.a+1, ' '); r.more {
		return lo, r.b
	}
	return lo, r.b - 1
}

// characters chooses up to n to cut at: of those that keys are known to vary in,
// else of letters and digits, else of all.
func characters(r gap, known *alphabet, n int) []rune {
	lo, hi := r.between()
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
			for i, at := range spaced(0, len(set)-1, n) {
				set[i] = set[at]
			}
			return set[:min(n, len(set))]
		}
	}
	for _, c := range spaced(lo, hi, n) {
		if c, ok := legalFrom(c, hi); ok {
			set = append(set, c)
		}
	}
	return slices.Compact(set)
}

// legalFrom is the first character that a key may hold among those from rank c to
// hi.
func legalFrom(c, hi int) (rune, bool) {
	for ; c <= hi; c++ {
		if r := ranked(c); keys.Check("", string(r)) == nil {
			return r, true
		}
	}
	return 0, false
}

// The rank of a character is its place in the order of UTF-16 units: surrogates,
// which write U+10000 and above, come before U+E000.
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

func ranked(n int) rune {
	switch {
	case n < firstSurrogate:
		return rune(n)
	case n < firstSurrogate+supplementary:
		return rune(n - firstSurrogate + 0x10000)
	}
	return rune(n - firstSurrogate - supplementary + lastSurrogate + 1)
}
