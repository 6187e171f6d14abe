package patterns

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// creator is a queue or a target that can create what it is stored in.
type creator interface {
	Create(ctx context.Context) error
}

// Create creates everything that the Store needs: its table, the tables and blob containers
// in which its views have rows, and the outbox queue if that has a method
//
//	Create(ctx context.Context) error
//
// as that of package eventual has; otherwise the queue must exist. What exists already is not
// an error and stays as it is, so any number of processes may call Create, at any time. It
// makes one request for each of these; views with Targets of the same ID share one.
//
// Create also records, in each other table that contains rows of views, that these views are those
// of the entities in this Store's table: see [View]. The first time in a process that takes one request
// for each such table, one for each view that is new there, and one to find out the name of the
// Store's table. It fails with [ErrBadView] if the views are those of another table's entities.
//
// If something cannot be created, Create goes on with the rest. The error names what failed:
// the table of the primaries, the outbox, or the view.
func (s *Store[T]) Create(ctx context.Context) error {
	var failed []error
	create := func(what string, c creator) {
		if err := c.Create(ctx); err != nil {
			failed = append(failed, fmt.Errorf("create: %s: %w", what, azerr.Seal(err)))
		}
	}
	create("table of the primaries", s.table)
	created := map[string]bool{}
	for _, v := range s.engine.Views.Views {
		if c, ok := v.Shape.Target.(creator); ok && !created[v.TargetID()] {
			created[v.TargetID()] = true
			create("target of view "+v.Name, c)
		}
	}
	if c, ok := s.queue.(creator); ok {
		create("outbox", c)
	}
	if len(failed) == 0 {
		if _, err := s.engine.Own(ctx, true); err != nil {
			failed = append(failed, fmt.Errorf("create: %w", azerr.Seal(err)))
		}
	}
	return errors.Join(failed...)
}
