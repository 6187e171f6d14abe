package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/patterns"
)

// DropOptions are the options of [Tables.DropBefore]. nil and the zero value mean
// the defaults.
type DropOptions struct {
	// DryRun only finds the tables. Nothing is dropped, and no writes are refused.
	DryRun bool

	// Progress, if set, is told the counts so far after each table. Calls do not
	// overlap, and tables come oldest first.
	Progress func(DropProgress)
}

// DropProgress counts tables.
type DropProgress struct {
	Found   int // tables to drop
	Dropped int // gone by now, whoever dropped them
}

// DropReport says what DropBefore did.
type DropReport struct {
	DropProgress

	// Tables are those found, the oldest first.
	Tables []PeriodTable

	// Limit is the beginning of the oldest period that stays.
	Limit time.Time
}

// DropBefore drops the tables of all periods that end at or before t, with all their
// rows; the period that holds t stays. From now on this Tables refuses writes to
// those periods with [ErrDropped], also where DropBefore fails; in other processes
// [Options.Keep] does that. A t in the future drops current periods too.
//
// Only tables whose names are prefix and period are touched. One request to list
// 1,000 of them and one for each table, four at once, however many rows it has.
//
// It can be repeated and run twice at once: a table that is gone, or being deleted,
// is dropped. When a table cannot be dropped the others are all the same; the error
// then joins those of all tables, and running it again finishes the work.
func (s *Tables[T]) DropBefore(ctx context.Context, t time.Time, opts *DropOptions) (DropReport, error) {
	var o DropOptions
	if opts != nil {
		o = *opts
	}
	limit, err := s.names.period.in(t)
	if err != nil {
		return DropReport{}, fmt.Errorf("drop: %w", err)
	}
	if !o.DryRun {
		s.forgetBefore(limit)
	}
	report := DropReport{Limit: limit}
	if report.Tables, err = s.list(ctx, time.Time{}, limit); err != nil {
		return report, fmt.Errorf("drop: %w", err)
	}
	report.Found = len(report.Tables)
	if o.DryRun {
		return report, nil
	}
	var failed []error
	for refusal := range parallel.Ordered(ctx, len(report.Tables), drops, func(ctx context.Context, i int) (error, error) {
		return s.drop(ctx, report.Tables[i]), nil
	}) {
		if refusal != nil {
			failed = append(failed, refusal)
		} else {
			report.Dropped++
		}
		if o.Progress != nil {
			o.Progress(report.DropProgress)
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
