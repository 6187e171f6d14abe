package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// tableState is what is known about a table that was written to. The fields after creating
// are guarded by Tables.mu.
type tableState[T any] struct {
	start    time.Time
	table    *patterns.Table[T]
	creating chan struct{} // semaphore of one: held while the table is created

	exists  bool // a write has found the table
	dropped bool // the table existed and was dropped by another process
	seen    int  // how often it was found or created
}

// maxStates limits the memory of Tables. A state that was forgotten costs one request.
const maxStates = 1024

// admit returns the state for writes to the period that starts at start, or a DroppedError.
func (s *Tables[T]) admit(ctx context.Context, start time.Time) (*tableState[T], error) {
	if s.keep > 0 {
		if err := s.learnTime(ctx); err != nil {
			return nil, err
		}
	}
	limit := s.Limit()
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.states[start.Unix()]
	if start.Before(limit) || e != nil && e.dropped {
		return nil, s.droppedError(start, limit, nil)
	}
	if e != nil {
		return e, nil
	}
	table, err := s.newTable(start)
	if err != nil {
		return nil, err
	}
	if len(s.states) >= maxStates {
		s.forgetOldest()
	}
	e = &tableState[T]{start: start, table: table, creating: make(chan struct{}, 1)}
	s.states[start.Unix()] = e
	return e, nil
}

// forgetOldest removes the state of the oldest period. The caller holds mu.
func (s *Tables[T]) forgetOldest() {
	var oldest *tableState[T]
	for _, e := range s.states {
		if oldest == nil || e.start.Before(oldest.start) {
			oldest = e
		}
	}
	delete(s.states, oldest.start.Unix())
}

// refuseBefore makes writes to periods before limit return ErrDropped.
func (s *Tables[T]) refuseBefore(limit time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit.After(s.floor) {
		s.floor = limit
	}
	for start := range s.states {
		if start < limit.Unix() {
			delete(s.states, start)
		}
	}
}

// droppedError returns the error of a write to the period that starts at start.
func (s *Tables[T]) droppedError(start, limit time.Time, err error) *DroppedError {
	return &DroppedError{
		Table:    s.names.name(start),
		From:     start,
		To:       s.names.period.End(start),
		Limit:    limit,
		Deleting: isBeingDeleted(err),
		err:      err,
	}
}

// timesSeen returns how often e's table was found or created so far.
func (s *Tables[T]) timesSeen(e *tableState[T]) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.seen
}

// setExists records that e's table exists.
func (s *Tables[T]) setExists(e *tableState[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := e.table.ServiceTime(); ok {
		s.asked = e.table
	}
	if !e.exists {
		e.exists = true
		e.seen++
	}
}

// ensure creates e's table unless it is known to exist.
func (s *Tables[T]) ensure(ctx context.Context, e *tableState[T]) error {
	return s.create(ctx, e, func() (bool, error) { return !e.exists, nil })
}

// recreate creates e's table after a write has failed with missing, because the table does
// not exist. seen is the value of timesSeen before the write. recreate does nothing if
// another write has created the table since, and returns a DroppedError if the table was
// dropped by another process.
func (s *Tables[T]) recreate(ctx context.Context, e *tableState[T], seen int, missing error) error {
	limit, now := s.Limit(), s.now()
	return s.create(ctx, e, func() (bool, error) {
		if e.seen != seen {
			return false, nil
		}
		vanished := e.exists
		e.exists = false
		// Without Keep this is the only sign of a drop: tables of past periods are not deleted
		// for other reasons.
		if vanished && s.keep == 0 && !s.names.period.End(e.start).After(now) {
			e.dropped = true
		}
		if e.dropped || isBeingDeleted(missing) {
			return false, s.droppedError(e.start, limit, missing)
		}
		return true, nil
	})
}

// create creates e's table if needed returns true. It calls needed with Tables.mu held. One
// goroutine creates the table, and the others wait for it.
func (s *Tables[T]) create(ctx context.Context, e *tableState[T], needed func() (bool, error)) error {
	select {
	case e.creating <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("create table: %w", ctx.Err())
	}
	defer func() { <-e.creating }()
	s.mu.Lock()
	ok, err := needed()
	s.mu.Unlock()
	if !ok || err != nil {
		return err
	}
	if err := e.table.Create(ctx); err != nil {
		if isBeingDeleted(err) {
			return s.droppedError(e.start, s.Limit(), err)
		}
		return err
	}
	// A concurrent DropBefore may have listed the tables before this one existed.
	if limit := s.Limit(); e.start.Before(limit) {
		return errors.Join(s.droppedError(e.start, limit, nil), e.table.Drop(ctx))
	}
	s.setExists(e)
	return nil
}
