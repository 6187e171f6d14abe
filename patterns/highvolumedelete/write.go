package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/patterns"
)

// Insert stores v as a new row in the table of its period, or fails with
// [patterns.ErrExists]: as [patterns.Table.Insert] does.
//
// One request. The first write to a period that has no table yet makes it: three
// requests then, for one writer among all. [Tables.Prepare] does it ahead of time.
//
// A period before [Tables.Limit] is refused with a [*DroppedError], before any
// request. So is one whose table somebody else has dropped, as far as that shows:
// the service is still deleting it; or this Tables has written to it before, the
// period is over, and [Options.Keep] does not say that it must be there. Otherwise
// a table that is missing is made, also where it has been there before.
func (s *Tables[T]) Insert(ctx context.Context, v *T) (patterns.Item[T], error) {
	item, err := s.write(ctx, v, patterns.InsertOp(v))
	if err != nil {
		return patterns.Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	return item, nil
}

// Upsert stores v in the table of its period whether the row exists or not, as
// [patterns.Table.Upsert] does; else it is as Insert.
func (s *Tables[T]) Upsert(ctx context.Context, v *T, mode patterns.Mode) (patterns.Item[T], error) {
	item, err := s.write(ctx, v, patterns.UpsertOp(v, mode))
	if err != nil {
		return patterns.Item[T]{}, fmt.Errorf("upsert: %w", err)
	}
	return item, nil
}

func (s *Tables[T]) write(ctx context.Context, v *T, op patterns.Op[T]) (patterns.Item[T], error) {
	start, err := s.periodOf(v)
	if err != nil {
		return patterns.Item[T]{}, err
	}
	e, err := s.admit(start)
	if err != nil {
		return patterns.Item[T]{}, err
	}
	made := s.made(e)
	item, err := e.table.Do(ctx, op)
	if errors.Is(err, patterns.ErrTableNotFound) {
		if err = s.replace(ctx, e, made, err); err != nil {
			return item, err
		}
		item, err = e.table.Do(ctx, op)
	}
	if err == nil || errors.Is(err, patterns.ErrExists) {
		s.found(e)
	}
	return item, err
}

// Open is the table that holds events of time t, for transactions and whatever else
// [patterns.Table] does: made if it does not exist, and refused with a
// [*DroppedError] where its period is before [Tables.Limit]. One request, none once
// the table is known. The table does not look at the times of what is written to it
// then.
func (s *Tables[T]) Open(ctx context.Context, t time.Time) (*patterns.Table[T], error) {
	start, err := s.names.period.in(t)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	e, err := s.admit(start)
	if err == nil {
		err = s.ensure(ctx, e)
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return e.table, nil
}

// Prepare makes the tables of the current period and of the next ahead ones, as far
// as they are not known to exist: one request each, four at once. A new table is
// throttled while the service learns its load, and its first writers would have to
// wait for it; so prepare the next one in time, say when the half of a period is
// over. Tables that exist are fine.
func (s *Tables[T]) Prepare(ctx context.Context, ahead int) error {
	starts := []time.Time{s.names.period.Start(time.Now())}
	for range ahead {
		starts = append(starts, s.names.period.End(starts[len(starts)-1]))
	}
	for _, err := range parallel.Ordered(ctx, len(starts), drops, func(ctx context.Context, i int) (*patterns.Table[T], error) {
		return s.Open(ctx, starts[i])
	}) {
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	return nil
}

// drops is how many tables are made or deleted at once: these requests weigh more
// than others.
var drops = parallel.Window{Start: 4, Max: 4}
