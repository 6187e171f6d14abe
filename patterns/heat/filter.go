package heat

import (
	"bytes"
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// bounds are the conditions of a filter on the keys.
type bounds struct {
	partition, low, high span // PartitionKey eq, ge or gt, le or lt
	row, rowLow, rowHigh span
	other                bool // another condition
}

// query reads the class and the keys of a query. [query.Explain] is exact, but allocates;
// this is its rule for the class of a filter that is sent unchanged.
func (r *request) query(raw string) {
	r.next = strings.Contains(raw, "NextPartitionKey=")
	r.class = query.TableScan
	from, name := strings.Index(raw, "%24filter="), len("%24filter=")
	if from < 0 {
		if from, name = strings.Index(raw, "$filter="), len("$filter="); from < 0 {
			return
		}
	}
	text, _, _ := strings.Cut(raw[from+name:], "&")
	filter := add(r, text)
	for i := bytes.IndexByte(r.in(filter), '+'); i >= 0; i = bytes.IndexByte(r.in(filter), '+') {
		r.in(filter)[i] = ' '
	}
	b := r.conditions(r.unescaped(filter))
	r.filtered = b.other
	none := span{}
	switch {
	case b.partition == none && b.low != none && b.high != none:
		r.class, r.low, r.high = query.PartitionRange, b.low, b.high
	case b.partition == none:
		r.low, r.high = b.low, b.high
	case b.row != none:
		r.class, r.rows = query.Point, append(r.rows, b.row)
	case b.rowLow != none || b.rowHigh != none:
		r.class, r.low, r.high = query.RowRange, b.rowLow, b.rowHigh
	default:
		r.class = query.PartitionScan
	}
	r.partition = b.partition
}

// conditions returns the conditions on the keys that all rows of the filter meet: those of
// a filter without or and not, otherwise those outside of parentheses.
func (r *request) conditions(filter span) bounds {
	var all, outer bounds
	depth, choice, outerChoice, negated := 0, false, false, false
	text := r.in(filter)
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ':
			i++
			continue
		case '(':
			depth++
			i++
			continue
		case ')':
			depth--
			negated = false
			i++
			continue
		}
		word := token(text[i:])
		i += len(word)
		switch string(word) {
		case "and":
			continue
		case "or":
			choice, outerChoice = true, outerChoice || depth <= 0
			continue
		case "not":
			choice, negated = true, true
			continue
		}
		i = skipSpaces(text, i)
		operator := token(text[i:])
		i = skipSpaces(text, i+len(operator))
		value := literal(text[i:])
		s := span{filter.from + int32(i), filter.from + int32(i+len(value))}
		i += max(len(value), 1)
		if len(value) >= 2 {
			s.from, s.to = s.from+1, s.to-1
		}
		all.add(word, operator, s)
		if depth <= 0 && !negated {
			outer.add(word, operator, s)
		}
		negated = negated && depth > 0
	}
	found := all
	switch {
	case outerChoice:
		found = bounds{}
	case choice:
		found = outer
	}
	found.other = all.other || choice
	for _, s := range []*span{&found.partition, &found.low, &found.high, &found.row, &found.rowLow, &found.rowHigh} {
		*s = r.unquoted(*s)
	}
	return found
}

func (b *bounds) add(name, operator []byte, value span) {
	var equal, low, high *span
	switch string(name) {
	case "PartitionKey":
		equal, low, high = &b.partition, &b.low, &b.high
	case "RowKey":
		equal, low, high = &b.row, &b.rowLow, &b.rowHigh
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

// skipSpaces returns the index of the first byte from i that is not a space.
func skipSpaces(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// token returns the word at the start of text.
func token(text []byte) []byte {
	for i, c := range text {
		if c == ' ' || c == '(' || c == ')' || c == '\'' {
			return text[:max(i, min(1, len(text)))]
		}
	}
	return text
}

// literal returns the constant at the start of text, with its quotes.
func literal(text []byte) []byte {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted // a doubled quote leaves and enters again
		case !quoted && (c == ' ' || c == ')'):
			return text[:i]
		}
	}
	return text
}
