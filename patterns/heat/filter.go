package heat

import (
	"bytes"
	"hash/maphash"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/query"
)

// shape is a filter without its constants. Programs have few of them, so a filter is parsed
// only once.
type shape struct {
	hash             uint64
	class            query.Class // if it is sent unchanged; 0 if it is invalid
	single, filtered bool
	partition, row   [2]int // the numbers of the constants that are the lowest and the highest key; 0 for none
}

// shapes are the shapes of recent filters, by hash.
var shapes [256]atomic.Pointer[shape]

// maxConstants is how many constants of a filter are read.
const maxConstants = 8

// query reads the class and the keys of a query.
func (r *request) query(raw string) {
	r.next = strings.Contains(raw, "NextPartitionKey=")
	_, raw, _ = strings.Cut(raw, "filter=") // $ may be escaped
	raw, _, _ = strings.Cut(raw, "&")
	text := r.window[:copy(r.window[:], raw)]
	quote, hash, constants := quoteOf(text), uint64(0), [maxConstants][]byte{}
	for n, rest, more := 0, text, true; more; n++ {
		var before, found []byte
		before, found, rest, more = constant(rest, quote)
		hash = 31*hash + maphash.Bytes(seed, before)
		if n < maxConstants {
			constants[n] = found
		}
	}
	slot := &shapes[hash%uint64(len(shapes))]
	s := slot.Load()
	if s == nil || s.hash != hash {
		s = newShape(hash, text, quote)
		slot.Store(s)
	}
	r.class, r.filtered = s.class, s.filtered
	key := func(under span, i int) span { return r.extend(under, 0, value(constants[i-1], '%', ' ')) }
	of, ends := r.resource, s.partition
	if s.single && ends[0] > 0 {
		r.partition = key(of, ends[0])
		of, ends = r.partition, s.row
	}
	if r.low = of; ends[0] > 0 {
		r.low = key(of, ends[0])
	}
	switch {
	case ends[1] == 0:
		r.high = r.extend(of, 1, nil)
	case ends[1] == ends[0]:
		r.high = r.low
	default:
		r.high = key(of, ends[1])
	}
	if r.class == query.Point {
		r.rows = append(r.rows, r.low)
	}
}

// mark follows each constant, and the number of the constant follows mark.
const mark = '\x01'

// newShape parses a filter.
func newShape(hash uint64, text, quote []byte) *shape {
	s := &shape{hash: hash}
	var marked []byte
	for n := byte(1); ; n++ {
		before, found, rest, ok := constant(text, quote)
		marked = append(marked, before...)
		if !ok {
			break
		}
		marked = append(append(marked, quote...), found...)
		if typed := len(before) > 0 && before[len(before)-1] >= 'A'; !typed && n <= maxConstants {
			marked = append(marked, mark, '0'+n)
		}
		marked, text = append(marked, quote...), rest
	}
	unescaped, _ := url.QueryUnescape(string(marked))
	filter, err := query.Parse(unescaped)
	plan := query.Explain(filter)
	reads := plan.Reads()
	if err != nil || len(reads) == 0 {
		return s
	}
	first, last := reads[0], reads[len(reads)-1]
	s.class, s.filtered, s.single = plan.Plain, plan.Comparisons > 1, plan.Plain <= query.PartitionScan
	s.partition = [2]int{marking(first.Partition.From), marking(last.Partition.To)}
	s.row = [2]int{marking(first.Row.From), marking(last.Row.To)}
	return s
}

// marking returns the number of the constant that a key of a plan is, or 0.
func marking(key string) int {
	key = strings.TrimSuffix(key, "\x00") // see [query.Read]
	if i := len(key) - 2; i >= 0 && key[i] == mark {
		return int(key[i+1] - '0')
	}
	return 0
}

// constant returns the first quoted constant of a text, and what is before and after it. A
// quote within the constant is doubled.
func constant(text, quote []byte) (before, value, after []byte, ok bool) {
	from := afterQuote(text, quote)
	if from < 0 {
		return text, nil, nil, false
	}
	before, text = text[:from-len(quote)], text[from:]
	for end := 0; ; end += len(quote) {
		i := afterQuote(text[end:], quote)
		if i < 0 {
			return before, text, nil, true
		}
		end += i
		if after = text[end:]; !bytes.HasPrefix(after, quote) {
			return before, text[:end-len(quote)], after, true
		}
	}
}

// afterQuote returns the index after the first quote, or -1. It searches for the last byte of
// the quote, because spaces also begin with %.
func afterQuote(text, quote []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], quote[len(quote)-1])
		if i < 0 {
			return -1
		}
		if at += i + 1; len(quote) == 1 || at > 2 && text[at-2] == '2' && text[at-3] == '%' {
			return at
		}
	}
}

// quoteOf returns the quotes of a text, in which they may be escaped.
func quoteOf(text []byte) []byte {
	if bytes.IndexByte(text, '\'') < 0 {
		return escapedQuote
	}
	return apostrophe
}

var apostrophe, escapedQuote = []byte("'"), []byte("%27")

// value decodes a constant in place: escape and two digits are a byte, plus is space or plus,
// and a quote is doubled.
func value(text []byte, escape, plus byte) []byte {
	if bytes.IndexByte(text, '\'') < 0 && (escape == 0 || bytes.IndexByte(text, escape) < 0) && (plus == '+' || bytes.IndexByte(text, '+') < 0) {
		return text
	}
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == escape && i+2 < len(text):
			high, low := text[i+1], text[i+2]
			c = (high&15+high>>6*9)<<4 | (low&15 + low>>6*9)
			i += 2
		case c == '+':
			c = plus
		}
		if quoted = c == '\'' && !quoted; !quoted {
			text[n] = c
			n++
		}
	}
	return text[:n]
}
