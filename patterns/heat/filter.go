package heat

import (
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// query reads the class and the keys of a query. [query.Explain] is exact, but allocates;
// this is its rule for the class of a filter that is sent unchanged.
func (r *request) query(raw string) {
	r.next = strings.Contains(raw, "NextPartitionKey=")
	r.class = query.TableScan
	var b bounds
	if _, text, ok := strings.Cut(raw, "filter="); ok { // $ may be escaped
		f := filter{r: r, raw: text}
		f.advance()
		f.choice(&b)
	}
	r.filtered = b.other
	of, low, high, none := r.resource, b.low, b.high, span{}
	if b.partition != none {
		r.partition = r.below(r.resource, b.partition)
		of, low, high = r.partition, b.rowLow, b.rowHigh
	}
	switch {
	case b.partition != none && b.row != none:
		r.class, r.rows = query.Point, append(r.rows, r.below(of, b.row))
		return
	case b.partition != none && (low != none || high != none):
		r.class = query.RowRange
	case b.partition != none:
		r.class = query.PartitionScan
	case low != none && high != none:
		r.class = query.PartitionRange
	}
	if r.low = of; low != none {
		r.low = r.below(of, low)
	}
	if high != none {
		r.high = r.below(of, high)
	} else {
		r.high = extend(r, of, 1, "")
	}
}

// below returns the place of the key that a condition compares with.
func (r *request) below(of, condition span) span {
	key, _ := constant(r.window[condition.from:condition.to])
	return extend(r, of, 0, key)
}

// bounds are the constants of the conditions on the keys that all rows of a filter meet, in
// request.window. Those without a condition are zero.
type bounds struct {
	partition, low, high span // PartitionKey eq, ge or gt, le or lt
	row, rowLow, rowHigh span
	other                bool // another condition
}

// filter reads a filter from left to right, and writes it to request.window without the
// percent encoding. It stores no pointers, which would cost while garbage is collected.
type filter struct {
	r     *request
	raw   string
	at    int // in raw
	token span
}

// text returns the text of a token.
func (f *filter) text(token span) []byte { return f.r.window[token.from:token.to] }

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
				f.at, f.token = at, span{start, to}
				return
			case c == ' ':
				at += width
				continue
			case bracket:
				window[to] = c
				f.at, f.token = at+width, span{start, to + 1}
				return
			}
		}
		window[to] = c
		to++
		at += width
	}
	f.at, f.token = at, span{start, to}
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

func (b *bounds) add(name, operator []byte, value span) {
	equal, low, high := &b.row, &b.rowLow, &b.rowHigh
	switch string(name) {
	case "PartitionKey":
		equal, low, high = &b.partition, &b.low, &b.high
	case "RowKey":
	default:
		b.other = true
		return
	}
	switch string(operator) {
	case "eq":
		*equal = value
	case "ge", "gt":
		*low = value
	case "le", "lt":
		*high = value
	default:
		b.other = true
	}
}
