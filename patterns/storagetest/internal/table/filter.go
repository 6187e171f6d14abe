package table

import (
	"errors"
	"strconv"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

const maxComparisons = 15

// parseFilter parses a $filter as the service does. It returns 501 NotImplemented for a function call.
func parseFilter(text string) (filter.Filter, *reply.Error) {
	f, err := filter.Parse(text)
	switch {
	case errors.Is(err, filter.ErrFunction):
		return f, errNotImplemented
	case err != nil:
		return f, errInvalidInput.Because("$filter: " + err.Error())
	}
	return f, nil
}

// checkFilter decides about a filter that the service may refuse. The documentation permits 15 comparisons, but a filter with more
// was accepted: https://github.com/Azure/Azurite/issues/1745
func (c *call) checkFilter(f filter.Filter) *reply.Error {
	if n := f.Comparisons(); n > maxComparisons {
		rule := strconv.Itoa(n) + " comparisons; the documentation permits 15, a program has reported that the service accepts more"
		if err := c.Undecided("$filter", rule, errInvalidInput); err != nil {
			return err
		}
	}
	if word := f.Capitals(); word != "" {
		return c.Undecided("$filter", word+" is not documented, as true and false are", errInvalidInput)
	}
	return nil
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
func spanOf(f filter.Filter) span {
	var s span
	f.Conditions(s.narrow)
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

func (s *span) narrow(name, operator, text string) {
	low, high := &s.low, &s.high
	switch name {
	case "PartitionKey":
	case "RowKey":
		low, high = &s.lowRow, &s.highRow
	default:
		return
	}
	switch operator {
	case "eq":
		low.raise(text, false)
		high.lower(text, false)
	case "ge", "gt":
		low.raise(text, operator == "gt")
	case "le", "lt":
		high.lower(text, operator == "lt")
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
	if s.low.open && r.partition() == s.low.text {
		return true
	}
	return s.partitionOnly && s.lowRow.open && r.key() == s.lowRow.text
}

// past reports whether r is after the range.
func (s *span) past(r *row) bool {
	if s.high.set {
		if c := keys.Compare(r.partition(), s.high.text); c > 0 || c == 0 && s.high.open {
			return true
		}
	}
	if s.partitionOnly && s.highRow.set {
		c := keys.Compare(r.key(), s.highRow.text)
		return c > 0 || c == 0 && s.highRow.open
	}
	return false
}
