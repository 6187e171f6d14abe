package table

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/reply"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// parseFilter parses a $filter as the service does. It permits at most 15 comparisons, and
// returns 501 NotImplemented for a function call.
func parseFilter(text string) (query.Filter, *reply.Error) {
	if strings.TrimSpace(text) == "" {
		return query.Filter{}, nil
	}
	f, err := query.Parse(text)
	switch {
	case err != nil && hasCall(text):
		return f, errNotImplemented
	case err != nil, f.Comparisons() > query.MaxComparisons:
		return f, errInvalidInput
	}
	return f, nil
}

// hasCall reports whether the text contains a function call: a word other than an operator,
// followed by a parenthesis.
func hasCall(text string) bool {
	l := lexer{text}
	prev := ""
	for tok := l.next(); tok != ""; tok = l.next() {
		if tok == "(" && prev != "" && isWord(prev) && prev != "and" && prev != "or" && prev != "not" {
			return true
		}
		prev = tok
	}
	return false
}

func isWord(tok string) bool {
	c := tok[0]
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// lexer splits a filter into words, literals and parentheses.
type lexer struct{ rest string }

// next returns the next token, or "" at the end.
func (l *lexer) next() string {
	s := strings.TrimLeft(l.rest, " \t\r\n")
	end := len(s)
scan:
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', ')', ',':
			end = max(i, 1)
			break scan
		case ' ', '\t', '\r', '\n':
			end = i
			break scan
		case '\'':
			_, tail, ok := request.CutQuoted(s[i:])
			if ok {
				end = len(s) - len(tail)
			}
			break scan
		}
	}
	l.rest = s[end:]
	return s[:end]
}

// span is the range of rows that a query has to examine. It is derived from the conditions
// on the keys that every matching row satisfies. As in the service, an "or" of keys does
// not narrow the range.
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-for-query
type span struct {
	low, high     bound // of the partition key
	lowRow        bound // used if low and high are the same partition
	highRow       bound
	partitionOnly bool // low and high are the same partition, both included
}

type bound struct {
	text      string
	set, open bool // open: the text itself is not included
}

// spanOf returns the range of a filter.
func spanOf(f query.Filter) span {
	var s span
	l := lexer{f.String()}
	depth := 0
	var words []string // of the condition that is being read
	for tok := l.next(); ; tok = l.next() {
		switch tok {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 && tok == "or" {
			return span{}
		}
		if tok != "" && (depth > 0 || tok != "and") {
			words = append(words, tok)
			continue
		}
		if len(words) == 3 { // name, operator, literal: neither "not" nor a group
			s.narrow(words[0], words[1], words[2])
		}
		if words = words[:0]; tok == "" {
			break
		}
	}
	s.partitionOnly = s.low.set && s.high.set && s.low.text == s.high.text && !s.low.open && !s.high.open
	return s
}

// QueryPartition returns the only partition that the filter of a query permits. It returns
// false if there is no such partition.
func QueryPartition(r *request.Request) (string, bool) {
	f, err := parseFilter(r.Query.Get("$filter"))
	if err != nil {
		return "", false
	}
	s := spanOf(f)
	return s.low.text, s.partitionOnly
}

func (s *span) narrow(name, op, literal string) {
	text, tail, ok := request.CutQuoted(literal)
	if !ok || tail != "" {
		return
	}
	low, high := &s.low, &s.high
	switch name {
	case "PartitionKey":
	case "RowKey":
		low, high = &s.lowRow, &s.highRow
	default:
		return
	}
	switch op {
	case "eq":
		low.raise(text, false)
		high.lower(text, false)
	case "ge", "gt":
		low.raise(text, op == "gt")
	case "le", "lt":
		high.lower(text, op == "lt")
	}
}

func (b *bound) raise(text string, open bool) {
	if c := keys.Compare(text, b.text); !b.set || c > 0 || c == 0 && open {
		*b = bound{text, true, open}
	}
}

func (b *bound) lower(text string, open bool) {
	if c := keys.Compare(text, b.text); !b.set || c < 0 || c == 0 && open {
		*b = bound{text, true, open}
	}
}

// start returns the keys at or before the first row of the range.
func (s *span) start() (partition, row string) {
	if s.partitionOnly && s.lowRow.set {
		return s.low.text, s.lowRow.text
	}
	return s.low.text, ""
}

// before reports whether r is before the range, whose start may be exclusive.
func (s *span) before(r *row) bool {
	if s.low.open && r.partition == s.low.text {
		return true
	}
	return s.partitionOnly && s.lowRow.open && r.key == s.lowRow.text
}

// past reports whether r is after the range.
func (s *span) past(r *row) bool {
	if s.high.set {
		if c := keys.Compare(r.partition, s.high.text); c > 0 || c == 0 && s.high.open {
			return true
		}
	}
	if s.partitionOnly && s.highRow.set {
		c := keys.Compare(r.key, s.highRow.text)
		return c > 0 || c == 0 && s.highRow.open
	}
	return false
}
