package highvolumedelete

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// QueryOptions are the options of [Tables.Query] and [Tables.Page]. nil and the zero value
// mean the defaults.
type QueryOptions struct {
	// QueryOptions apply to all tables together, for example Limit. Allow applies to the
	// filter: reading all rows of some periods is a [query.TableScan] of their tables.
	// Parallel is how many tables are read concurrently; zero means 8.
	patterns.QueryOptions

	// NewestFirst reads the tables from the newest to the oldest. The zero value means the
	// oldest first. The rows of one table are in key order in both cases.
	NewestFirst bool
}

// Get reads the row at key in the table of the period that contains t. It returns
// [patterns.ErrNotFound] if the row or the table does not exist. It makes one request.
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

// Query yields the rows that match f in the tables of all periods that overlap [from, to). A
// zero time means no bound. The times select tables, not rows: rows of the first and the last
// period may be outside the range. Use f to exclude them.
//
// The order is by period, see [QueryOptions.NewestFirst], and within a period by key. It is
// the order of time if the row key is the time and f selects one partition: oldest first,
// or, with inverted times as row keys, newest first. Otherwise only the tables are in the
// order of time. Cosmos DB for Table has no order within a table.
//
// An error is yielded with a zero item and ends the sequence. When the caller leaves the loop, no
// goroutine keeps running.
//
// Query makes one request to list the tables for each 1,000 of them, unless the range is a
// single period, one request for each table, and one for each further page. While the loop
// consumes the rows of one table, Query prefetches the first pages of up to Parallel further
// tables; with a Limit, only as many as are likely to be needed. The pages of one table are
// read one after the other.
//
// A table that does not exist, is being deleted, or is dropped during the read has no
// further rows, which is not an error. Tables that are created after the listing are not
// read.
func (s *Tables[T]) Query(ctx context.Context, from, to time.Time, f query.Filter, opts *QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return func(yield func(patterns.Item[T], error) bool) {
		fail := func(err error) { yield(patterns.Item[T]{}, fmt.Errorf("query: %w", err)) }
		r, err := s.newRead(from, to, f, opts)
		if err != nil {
			fail(err)
			return
		}
		for step, err := range r.steps(ctx, position{}) {
			if err != nil {
				fail(err)
				return
			}
			for _, item := range step.items {
				if !yield(item, nil) {
					return
				}
				if r.consume(1) {
					return
				}
			}
		}
	}
}

// read is a read of several tables.
type read[T any] struct {
	set       *Tables[T]
	filter    query.Filter
	options   patterns.QueryOptions
	newest    bool
	low, high time.Time // start of the first period, and of the first one after the last
	limited   bool
	left      atomic.Int64 // rows still wanted, if limited
	consumed  int          // rows
	finished  int          // tables
}

// position is where a read continues: in the table of the period that starts at start, at
// cursor, or after that table. The zero position is the beginning.
type position struct {
	start  time.Time
	cursor string
	after  bool
}

// step is the result of one request.
type step[T any] struct {
	items []patterns.Item[T]
	table *patterns.Table[T]
	next  position
	last  bool // no rows follow
}

const (
	defaultParallel = 8
	maxPage         = 1000
)

func (s *Tables[T]) newRead(from, to time.Time, f query.Filter, opts *QueryOptions) (*read[T], error) {
	var o QueryOptions
	if opts != nil {
		o = *opts
	}
	if _, err := s.model.Explain(f, &o.QueryOptions); err != nil {
		return nil, err
	}
	r := &read[T]{set: s, filter: f, options: o.QueryOptions, newest: o.NewestFirst}
	r.low, r.high = s.periods(from, to)
	if r.options.Parallel == 0 {
		r.options.Parallel = defaultParallel
	}
	if r.options.PageSize == 0 {
		r.options.PageSize = maxPage
	}
	r.setLimit(o.Limit)
	return r, nil
}

// setLimit ends the read after n rows. 0 means no limit.
func (r *read[T]) setLimit(n int) {
	r.limited = n > 0
	r.left.Store(int64(n))
}

// consume counts rows that the caller has received, and reports whether no more are wanted.
func (r *read[T]) consume(n int) bool {
	r.consumed += n
	return r.limited && r.left.Add(int64(-n)) <= 0
}

// prefetch returns how many tables to read concurrently: as many as are needed for the rows
// still wanted, estimated from the tables read so far.
func (r *read[T]) prefetch() int {
	if !r.limited || r.consumed == 0 {
		return r.options.Parallel
	}
	left := int(r.left.Load())
	return (left*r.finished + r.consumed - 1) / r.consumed
}

// steps reads the tables one after the other, starting at the position.
func (r *read[T]) steps(ctx context.Context, at position) iter.Seq2[step[T], error] {
	return func(yield func(step[T], error) bool) {
		if at.cursor != "" && r.contains(at.start) {
			first, err := r.fetch(ctx, at)
			if !r.readTable(ctx, first, err, false, yield) {
				return
			}
			at.after = true
		}
		starts, err := r.tables(ctx, at)
		if err != nil {
			yield(step[T]{}, err)
			return
		}
		window := calls.Window{Start: r.options.Parallel, Max: r.options.Parallel, Want: r.prefetch}
		if r.limited {
			window.Start = 1
		}
		i := 0
		for first, err := range calls.Ordered(ctx, len(starts), window, func(ctx context.Context, i int) (step[T], error) {
			return r.fetch(ctx, position{start: starts[i]})
		}) {
			i++
			if !r.readTable(ctx, first, err, i == len(starts), yield) {
				return
			}
		}
	}
}

// readTable yields the first step of a table, and reads and yields the others. It reports
// whether to continue with the next table.
func (r *read[T]) readTable(ctx context.Context, s step[T], err error, last bool, yield func(step[T], error) bool) bool {
	for {
		if s.next.after {
			r.finished++
			s.last = last
		}
		if !yield(s, err) || err != nil {
			return false
		}
		if s.next.after {
			return true
		}
		s, err = r.fetch(ctx, s.next)
	}
}

// fetch reads one page of one table. A table that does not exist has no rows.
func (r *read[T]) fetch(ctx context.Context, at position) (step[T], error) {
	table, err := r.set.readTable(at.start)
	if err != nil {
		return step[T]{}, err
	}
	o := r.options
	o.Limit = 0
	if r.limited {
		o.PageSize = min(o.PageSize, max(int(r.left.Load()), 1))
	}
	page, err := table.Page(ctx, r.filter, at.cursor, &o)
	if errors.Is(err, patterns.ErrTableNotFound) {
		page, err = patterns.Page[T]{}, nil
	}
	if err != nil {
		return step[T]{}, err
	}
	next := position{start: at.start, cursor: page.Cursor, after: page.Cursor == ""}
	return step[T]{items: page.Items, table: table, next: next}, nil
}

// contains reports whether the period that starts at start is in the range.
func (r *read[T]) contains(start time.Time) bool {
	return !start.Before(r.low) && (r.high.IsZero() || start.Before(r.high))
}

// tables returns the starts of the periods to read from the position on, in the order of the
// read.
func (r *read[T]) tables(ctx context.Context, at position) ([]time.Time, error) {
	p, low, high := r.set.names.period, r.low, r.high
	if !at.start.IsZero() {
		bound := at.start // of the remaining periods
		if at.after != r.newest {
			bound = p.End(at.start)
		}
		switch {
		case !r.newest && bound.After(low):
			low = bound
		case r.newest && (high.IsZero() || bound.Before(high)):
			high = bound
		}
	}
	if !low.IsZero() && p.End(low).Equal(high) {
		return []time.Time{low}, nil
	}
	tables, err := r.set.list(ctx, low, high)
	if r.newest {
		slices.Reverse(tables)
	}
	starts := make([]time.Time, len(tables))
	for i := range tables {
		starts[i] = tables[i].From
	}
	return starts, err
}
