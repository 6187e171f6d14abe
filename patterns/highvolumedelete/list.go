package highvolumedelete

import (
	"context"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/fetch"
)

// PeriodTable is a table of the set.
type PeriodTable struct {
	Name string
	From time.Time // start of its period
	To   time.Time // end of its period, exclusive
}

// List returns the existing tables of all periods that overlap [from, to), oldest first. A
// zero time means no bound. It omits tables that are being deleted, and tables that are not in
// the set. It makes one request for each 1,000 tables of the range.
func (s *Tables[T]) List(ctx context.Context, from, to time.Time) ([]PeriodTable, error) {
	low, high := s.periods(from, to)
	return s.list(ctx, low, high)
}

// periods returns the start of the first period that overlaps [from, to) and the start of
// the first one after it. A zero time stays zero. If to is not after from, both are the same.
func (s *Tables[T]) periods(from, to time.Time) (low, high time.Time) {
	p := s.names.period
	if !from.IsZero() {
		low = p.Start(from)
	}
	switch {
	case to.IsZero():
	case !from.Before(to) && !from.IsZero():
		high = low
	default:
		if high = p.Start(to); high.Before(to) {
			high = p.End(to)
		}
	}
	return low, high
}

// list returns the tables of the periods that start in [low, high).
func (s *Tables[T]) list(ctx context.Context, low, high time.Time) ([]PeriodTable, error) {
	if !high.IsZero() && !low.Before(high) {
		return nil, ctx.Err()
	}
	var tables []PeriodTable
	for name, err := range fetch.Tables(ctx, s.service, s.names.filter(low, high)) {
		if err != nil {
			return nil, err
		}
		start, ok := s.names.parse(name)
		if !ok || start.Before(low) || !high.IsZero() && !start.Before(high) {
			continue
		}
		tables = append(tables, PeriodTable{Name: name, From: start, To: s.names.period.End(start)})
	}
	slices.SortFunc(tables, func(a, b PeriodTable) int { return a.From.Compare(b.From) })
	return tables, nil
}
