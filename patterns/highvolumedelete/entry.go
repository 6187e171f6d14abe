package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// entry is what is known of a table that was written to. Its fields below table
// belong to Tables.mu.
type entry[T any] struct {
	start    time.Time
	table    *patterns.Table[T]
	creating chan struct{} // full while somebody creates the table

	there bool // a write has found it
	gone  bool // it was there, and somebody has dropped it
	made  int  // how often it was found or created
}

// maxEntries bounds the memory of Tables. To forget an entry costs a request.
const maxEntries = 1024

// admit gives the entry for writes to the period that begins at start, or a
// DroppedError.
func (s *Tables[T]) admit(start time.Time) (*entry[T], error) {
	limit := s.Limit()
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[start.Unix()]
	if start.Before(limit) || e != nil && e.gone {
		return nil, s.dropped(start, limit, nil)
	}
	if e != nil {
		return e, nil
	}
	table, err := s.open(start)
	if err != nil {
		return nil, err
	}
	if len(s.entries) >= maxEntries {
		s.forgetOldest()
	}
	e = &entry[T]{start: start, table: table, creating: make(chan struct{}, 1)}
	s.entries[start.Unix()] = e
	return e, nil
}

func (s *Tables[T]) forgetOldest() {
	var oldest *entry[T]
	for _, e := range s.entries {
		if oldest == nil || e.start.Before(oldest.start) {
			oldest = e
		}
	}
	delete(s.entries, oldest.start.Unix())
}

// forgetBefore gives up the entries of periods that were dropped.
func (s *Tables[T]) forgetBefore(limit time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit.After(s.floor) {
		s.floor = limit
	}
	for start := range s.entries {
		if start < limit.Unix() {
			delete(s.entries, start)
		}
	}
}

// dropped is the refusal of a write to the period that begins at start.
func (s *Tables[T]) dropped(start, limit time.Time, err error) *DroppedError {
	return &DroppedError{
		Table:    s.names.name(start),
		From:     start,
		To:       s.names.period.End(start),
		Limit:    limit,
		Deleting: isBeingDeleted(err),
		err:      err,
	}
}

// made is how often e's table was found or created so far.
func (s *Tables[T]) made(e *entry[T]) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.made
}

// found notes that e's table exists.
func (s *Tables[T]) found(e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.there {
		e.there = true
		e.made++
	}
}

// ensure creates e's table, unless it is known to exist.
func (s *Tables[T]) ensure(ctx context.Context, e *entry[T]) error {
	return s.create(ctx, e, func() (bool, error) { return !e.there, nil })
}

// replace creates e's table after a write, begun when it had been made so many
// times, found it missing with err: unless another write was faster, or the table
// was dropped by somebody else.
func (s *Tables[T]) replace(ctx context.Context, e *entry[T], made int, err error) error {
	limit := s.Limit()
	return s.create(ctx, e, func() (bool, error) {
		if e.made != made {
			return false, nil
		}
		vanished := e.there
		e.there = false
		// Without Keep nothing else tells: tables of the past go for one reason only.
		if vanished && s.keep == 0 && !s.names.period.End(e.start).After(time.Now()) {
			e.gone = true
		}
		if e.gone || isBeingDeleted(err) {
			return false, s.dropped(e.start, limit, err)
		}
		return true, nil
	})
}

// create creates e's table if needed, which is called under Tables.mu, says so. One
// goroutine does it, and the others wait.
func (s *Tables[T]) create(ctx context.Context, e *entry[T], needed func() (bool, error)) error {
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
			return s.dropped(e.start, s.Limit(), err)
		}
		return err
	}
	// DropBefore may have listed the tables before this one was there.
	if limit := s.Limit(); e.start.Before(limit) {
		return errors.Join(s.dropped(e.start, limit, nil), e.table.Drop(ctx))
	}
	s.found(e)
	return nil
}
