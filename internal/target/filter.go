package target

import (
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// query reads the class and the keys of a query. [query.Explain] is exact, but allocates;
// this is its rule for the class of a filter that is sent unchanged.
func (r *Request) query(raw string) {
	r.Next = strings.Contains(raw, "NextPartitionKey=")
	r.Class = query.TableScan
	var b bounds
	if _, text, ok := strings.Cut(raw, "filter="); ok { // $ may be escaped
		f := filter{r: r, raw: text}
		f.advance()
		f.choice(&b)
	}
	r.Filtered = b.other
	none, of, key := Span{}, r.Resource, b.partition
	if key.equal != none {
		r.Class = query.PartitionScan
		r.Partition = r.below(r.Resource, key.equal)
		of, key = r.Partition, b.row
		if key.low != none || key.high != none {
			r.Class = query.RowRange
		}
		if key.equal != none {
			r.Class = query.Point
			r.add(r.below(of, key.equal))
			return
		}
	} else if key.low != none && key.high != none {
		r.Class = query.PartitionRange
	}
	if !r.each {
		return
	}
	if r.Low = of; key.low != none {
		r.Low = r.below(of, key.low)
	}
	if r.High = extend(r, of, 1, ""); key.high != none {
		r.High = r.below(of, key.high)
	}
}

// below returns the text of the key that a condition compares with.
func (r *Request) below(of, condition Span) Span {
	key, _ := constant(r.window[condition.from:condition.to])
	return extend(r, of, 0, key)
}

// bounds are the constants of the conditions on the keys that all rows of a filter meet, in
// request.window. Those without a condition are zero.
type bounds struct {
	partition, row struct{ equal, low, high Span } // eq, ge or gt, le or lt
	other          bool                            // another condition
}

// filter reads a filter from left to right, and writes it to request.window without the
// percent encoding. It stores no pointers, which would cost while garbage is collected.
type filter struct {
	r     *Request
	raw   string
	at    int // in raw
	token Span
}

// text returns the text of a token.
func (f *filter) text(token Span) []byte { return f.r.window[token.from:token.to] }

// advance reads the next word, constant or parenthesis.
func (f *filter) advance() {
	raw, window := f.raw, f.r.window
	at, start, quoted := f.at, f.token.to, false
	to := start
	for at < len(raw) && raw[at] != '&' && int(to) < len(window) {
		c, width := raw[at], 1
		if c <= '+' { // all that has a meaning
			c, width = decoded(raw, at, '+')
			bracket := c == '(' || c == ')'
			switch {
			case c == '\'':
				quoted = !quoted // a doubled quote leaves and enters again
			case quoted:
			case (bracket || c == ' ') && to > start:
				f.at, f.token = at, Span{start, to}
				return
			case c == ' ':
				at += width
				continue
			case bracket:
				window[to] = c
				f.at, f.token = at+width, Span{start, to + 1}
				return
			}
		}
		window[to] = c
		to++
		at += width
	}
	f.at, f.token = at, Span{start, to}
}

// take reads a token if it is the next one.
func (f *filter) take(token string) bool {
	if string(f.text(f.token)) != token {
		return false
	}
	f.advance()
	return true
}

// choice reads conditions that or joins. With more than one, rows need to meet none of them.
func (f *filter) choice(b *bounds) {
	before := *b
	f.all(b)
	for f.take("or") {
		f.all(&bounds{})
		*b = before
		b.other = true
	}
}

// all reads conditions that and joins.
func (f *filter) all(b *bounds) {
	for f.condition(b); f.take("and"); {
		f.condition(b)
	}
}

func (f *filter) condition(b *bounds) {
	switch {
	case f.take("not"):
		f.condition(&bounds{})
		b.other = true
	case f.take("("):
		f.choice(b)
		f.take(")")
	default:
		name := f.token
		f.advance()
		operator := f.token
		f.advance()
		value := f.token
		f.advance()
		b.add(f.text(name), f.text(operator), value)
	}
}

func (b *bounds) add(name, operator []byte, value Span) {
	key := &b.partition
	if string(name) == "RowKey" {
		key = &b.row
	} else if string(name) != "PartitionKey" {
		operator = nil
	}
	switch string(operator) {
	case "eq":
		key.equal = value
	case "ge", "gt":
		key.low = value
	case "le", "lt":
		key.high = value
	default:
		b.other = true
	}
}
