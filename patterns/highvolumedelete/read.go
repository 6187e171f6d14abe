package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// QueryOptions are the options of [Tables.Query] and [Tables.Page]. nil and the zero
// value mean the defaults.
type QueryOptions struct {
	// QueryOptions apply to all tables together, Limit for one. Allow is about the
	// filter: all rows of some periods are a [query.TableScan] of their tables.
	// Parallel is how many tables may be read at once; zero means 8.
	patterns.QueryOptions

	// NewestFirst takes the tables in the order from the newest to the oldest. Zero
	// means the oldest first. The rows of one table are in key order either way.
	NewestFirst bool
}

// Get reads the row at key of the period that holds t. [patterns.ErrNotFound] where
// it does not exist, or its table does not. One request.
func (s *Tables[T]) Get(ctx context.Context, t time.Time, key keys.Key) (patterns.Item[T], error) {
	table, err := s.Table(t)
	if err != nil {
		return patterns.Item[T]{}, fmt.Errorf("get: %w", err)
	}
	item, err := table.Get(ctx, key)
	if errors.Is(err, patterns.ErrTableNotFound) {
		err = fmt.Errorf("get: %w: %w", patterns.ErrNotFound, err)
	}
	return item, err
}

// Query gives the rows that f matches in the tables of all periods that overlap the
// time from from up to to, without to. Zero times are no bounds. The times choose
// tables, not rows: rows of the first and the last period may be outside. Narrow f
// to leave them out.
//
// The order is by period first, see [QueryOptions.NewestFirst], and by key within
// each period. So it is the order of time where row keys are the time and f names
// one partition: the oldest first, or, with inverted times as keys, the newest
// first. Otherwise it is in order of time from table to table only. Cosmos DB for
// Table keeps no order within a table.
//
// Each pair is an item and nil, or a zero item and an error, after which the
// sequence ends. Breaking off leaves nothing running.
//
// One request lists the tables, 1,000 at a time, unless times name a single period;
// then it is one for each table and one for each further page. While the rows of
// one table are consumed the first pages of the next ones are read, not more than
// Parallel; with a Limit only as many as are likely to be needed. Within one table
// requests follow one another.
//
// A table that does not exist, is dropped meanwhile or is being deleted has no more
// rows; it is no error. Tables made after the listing are not read.
func (s *Tables[T]) Query(ctx context.Context, from, to time.Time, f query.Filter, opts *QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return func(yield func(patterns.Item[T], error) bool) {
		fail := func(err error) { yield(patterns.Item[T]{}, fmt.Errorf("query: %w", err)) }
		r, err := s.reading(from, to, f, opts)
		if err != nil {
			fail(err)
			return
		}
		for step, err := range r.steps(ctx, place{}) {
			if err != nil {
				fail(err)
				return
			}
			for _, item := range step.items {
				if !yield(item, nil) {
					return
				}
				if r.took(1) {
					return
				}
			}
		}
	}
}
