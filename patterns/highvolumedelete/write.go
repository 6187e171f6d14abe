package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// Insert stores v as a new row in the table of its period, or returns
// [patterns.ErrExists], as [patterns.Table.Insert] does.
//
// It makes one request. The first write to a period without a table creates the table and
// makes three requests. [Tables.Prepare] creates tables ahead. With [Options.Keep] the first
// write of s makes one more.
//
// Insert returns a [*DroppedError] without a request if the period is before
// [Tables.Limit]. It also returns one if another process has dropped the table, as far as
// that can be determined: the service is still deleting the table; or this Tables has
// written to the table before, the period has ended, and [Options.Keep] is not set. In all
// other cases Insert creates a missing table, even if it existed before.
func (s *Tables[T]) Insert(ctx context.Context, v *T) (patterns.Item[T], error) {
	item, err := s.write(ctx, v, patterns.InsertOp(v))
	if err != nil {
		return patterns.Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	return item, nil
}

// Upsert stores v in the table of its period whether the row exists or not, as
// [patterns.Table.Upsert] does. Otherwise it works like Insert.
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
	e, err := s.admit(ctx, start)
	if err != nil {
		return patterns.Item[T]{}, err
	}
	seen := s.timesSeen(e)
	item, err := e.table.Do(ctx, op)
	var unknown error
	if errors.Is(err, patterns.ErrTableNotFound) {
		unknown = err // it is, if an earlier attempt had no reply
		if err = s.recreate(ctx, e, seen, err); err == nil {
			item, err = e.table.Do(ctx, op)
		}
	}
	if err == nil || errors.Is(err, patterns.ErrExists) {
		s.setExists(e)
	}
	return item, sdkerr.StillUnknown(unknown, err)
}

// Open returns the table for events of time t, for transactions and other operations of
// [patterns.Table]. It creates the table if it does not exist, and returns a
// [*DroppedError] if the period is before [Tables.Limit]. It makes one request, none if the
// table is known to exist. The returned table does not check the times of the rows that are
// written to it.
func (s *Tables[T]) Open(ctx context.Context, t time.Time) (*patterns.Table[T], error) {
	start, err := s.names.period.checkedStart(t)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	e, err := s.admit(ctx, start)
	if err == nil {
		err = s.ensure(ctx, e)
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return e.table, nil
}

// Prepare creates the tables of the current period and of the next ahead periods that are
// not known to exist, with one request each, four of them concurrently. The service
// throttles a new table until it has learned its load, and the first writers would have to
// wait until the table exists. So call Prepare early, for example in the middle of a period.
func (s *Tables[T]) Prepare(ctx context.Context, ahead int) error {
	starts := []time.Time{s.names.period.Start(s.now())}
	for range ahead {
		starts = append(starts, s.names.period.End(starts[len(starts)-1]))
	}
	for _, err := range calls.Ordered(ctx, len(starts), tableRequests, func(ctx context.Context, i int) (*patterns.Table[T], error) {
		return s.Open(ctx, starts[i])
	}) {
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	return nil
}

// tableRequests is how many tables are created or dropped concurrently. These requests are
// more expensive for the service than others.
var tableRequests = calls.Window{Start: 4, Max: 4}
