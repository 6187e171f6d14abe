package highvolumedelete

import (
	"context"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/wire"
)

// PeriodTable is a table of the set.
type PeriodTable struct {
	Name string
	From time.Time // its period: from here
	To   time.Time // up to here, without it
}

// List gives the tables that exist of the periods that overlap the time from from
// up to to, without to, the oldest first. Zero times are no bounds. A table that is
// being deleted does not count. Other tables, of whatever names, do not show.
//
// One request for each 1,000 tables, which the service picks by their names.
func (s *Tables[T]) List(ctx context.Context, from, to time.Time) ([]PeriodTable, error) {
	low, high := s.periods(from, to)
	return s.list(ctx, low, high)
}

// periods is the beginnings of the first period that overlaps [from, to) and of the
// first behind. Zero stays zero; where to is not after from, the two are the same.
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

// list gives the tables of the periods that begin at low or later and before high.
func (s *Tables[T]) list(ctx context.Context, low, high time.Time) ([]PeriodTable, error) {
	if !high.IsZero() && !low.Before(high) {
		return nil, ctx.Err()
	}
	var tables []PeriodTable
	for name, err := range wire.ListTables(ctx, s.service, s.names.filter(low, high)) {
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
