package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// DropOptions are the options of [Tables.DropBefore]. nil and the zero value mean the
// defaults.
type DropOptions struct {
	// DryRun only finds the tables. No table is dropped and no write is refused.
	DryRun bool

	// Progress, if not nil, receives the counts after each table. Calls do not overlap, and
	// tables are in order from the oldest to the newest.
	Progress func(patterns.Progress)
}

// DropReport is the result of [Tables.DropBefore]. Found are the tables to drop, Done those that no longer exist, even if
// another client dropped them, and Failed those that could not be dropped.
type DropReport struct {
	patterns.Progress

	// Tables are the tables that were found, oldest first.
	Tables []PeriodTable

	// Limit is the start of the oldest period that is kept.
	Limit time.Time
}

// DropBefore drops the tables of all periods that end at or before t, with all their rows.
// It keeps the period that contains t. From now on this Tables refuses writes to the dropped
// periods with [ErrDropped], even if DropBefore fails. In other processes [Options.Keep] does
// that. If t is in the future, current periods are dropped too.
//
// DropBefore drops only tables whose names consist of the prefix and a period. It makes one
// request for each 1,000 tables to list them and one for each table, whatever the number of
// rows, four of them concurrently.
//
// DropBefore can be repeated and run concurrently: a table that does not exist or is being
// deleted counts as dropped. If a table cannot be dropped, the others still are. The error
// then joins the errors of all tables, and another call completes the work.
func (s *Tables[T]) DropBefore(ctx context.Context, t time.Time, opts *DropOptions) (DropReport, error) {
	var o DropOptions
	if opts != nil {
		o = *opts
	}
	limit, err := s.names.period.checkedStart(t)
	if err != nil {
		return DropReport{}, fmt.Errorf("drop: %w", err)
	}
	if !o.DryRun {
		s.refuseBefore(limit)
	}
	var requests calls.Requests
	ctx = requests.Context(ctx)
	report := DropReport{Limit: limit}
	if report.Tables, err = s.list(ctx, time.Time{}, limit); err != nil {
		return report, fmt.Errorf("drop: %w", err)
	}
	report.Found, report.Requests = len(report.Tables), requests.Count()
	if o.DryRun {
		return report, nil
	}
	var failed []error
	for refusal := range calls.Ordered(ctx, len(report.Tables), tableRequests, func(ctx context.Context, i int) (error, error) {
		return s.drop(ctx, report.Tables[i]), nil
	}) {
		if refusal != nil {
			failed = append(failed, refusal)
			report.Failed++
		} else {
			report.Done++
		}
		if report.Requests = requests.Count(); o.Progress != nil {
			o.Progress(report.Progress)
		}
	}
	return report, errors.Join(failed...)
}

func (s *Tables[T]) drop(ctx context.Context, p PeriodTable) error {
	table, err := patterns.NewTable(s.service.NewClient(p.Name), &s.table)
	if err == nil {
		err = table.Drop(ctx)
	}
	if err != nil && !errors.Is(err, patterns.ErrTableNotFound) {
		return fmt.Errorf("drop: table %s: %w", p.Name, err)
	}
	return nil
}
