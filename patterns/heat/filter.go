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
		text, _, _ = strings.Cut(text, "&")
		f := filter{rest: unescape(r.window[:], text, '+')}
		f.advance()
		f.choice(&b)
	}
	r.filtered = b.other
	of, low, high := r.resource, b.low, b.high
	if b.partition != nil {
		r.partition = extend(r, r.resource, 0, b.partition)
		of, low, high = r.partition, b.rowLow, b.rowHigh
	}
	switch {
	case b.partition != nil && b.row != nil:
		r.class, r.rows = query.Point, append(r.rows, extend(r, of, 0, b.row))
		return
	case b.partition != nil && (low != nil || high != nil):
		r.class = query.RowRange
	case b.partition != nil:
		r.class = query.PartitionScan
	case low != nil && high != nil:
		r.class = query.PartitionRange
	}
	if r.low = of; low != nil {
		r.low = extend(r, of, 0, low)
	}
	if r.high = extend(r, of, 1, ""); high != nil {
		r.high = extend(r, of, 0, high)
	}
}

// bounds are the conditions on the keys that all rows of a filter meet. Those without a
// condition are nil.
type bounds struct {
	partition, low, high []byte // PartitionKey eq, ge or gt, le or lt
	row, rowLow, rowHigh []byte
	other                bool // another condition
}

// filter reads a filter from left to right.
type filter struct{ token, rest []byte }

// advance reads the next word, constant or parenthesis.
func (f *filter) advance() {
	text := f.rest
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	end, quoted := 0, false
	for ; end < len(text); end++ {
		c := text[end]
		if c == '\'' {
			quoted = !quoted // a doubled quote leaves and enters again
		} else if !quoted && (c == ' ' || c == '(' || c == ')') {
			break
		}
	}
	end = max(end, min(1, len(text)))
	f.token, f.rest = text[:end], text[end:]
}

// take reads a token if it is the next one.
func (f *filter) take(token string) bool {
	if string(f.token) != token {
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
		value, _ := constant(f.token)
		f.advance()
		b.add(name, operator, value)
	}
}

func (b *bounds) add(name, operator, value []byte) {
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
