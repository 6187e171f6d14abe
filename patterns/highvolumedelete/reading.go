package highvolumedelete

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// reading is a read over several tables.
type reading[T any] struct {
	set       *Tables[T]
	filter    query.Filter
	options   patterns.QueryOptions
	newest    bool
	low, high time.Time // beginnings of the first period, and of the first behind
	limited   bool
	left      atomic.Int64 // rows still wanted, where limited
	given     int          // rows
	done      int          // tables
}

// place is where a reading goes on: in the table of the period that begins at start,
// behind cursor, or behind that table. The zero place is the beginning.
type place struct {
	start  time.Time
	cursor string
	behind bool
}

// step is the rows of one request, and where the reading goes on behind them.
type step[T any] struct {
	items []patterns.Item[T]
	table *patterns.Table[T]
	next  place
	last  bool // nothing follows
}

const (
	defaultParallel = 8
	maxPage         = 1000
)

func (s *Tables[T]) reading(from, to time.Time, f query.Filter, opts *QueryOptions) (*reading[T], error) {
	var o QueryOptions
	if opts != nil {
		o = *opts
	}
	if _, err := s.model.Explain(f, &o.QueryOptions); err != nil {
		return nil, err
	}
	r := &reading[T]{set: s, filter: f, options: o.QueryOptions, newest: o.NewestFirst}
	r.low, r.high = s.periods(from, to)
	if r.options.Parallel <= 0 {
		r.options.Parallel = defaultParallel
	}
	if r.options.PageSize == 0 {
		r.options.PageSize = maxPage
	}
	r.limit(o.Limit)
	return r, nil
}

// limit ends the reading after n rows; 0 is no limit.
func (r *reading[T]) limit(n int) {
	r.limited = n > 0
	r.left.Store(int64(n))
}

// took counts rows that were given, and reports whether no more are wanted.
func (r *reading[T]) took(n int) bool {
	r.given += n
	return r.limited && r.left.Add(int64(-n)) <= 0
}

// want is how many tables to read at once: as many as it may take to get the rows
// that are still wanted, judged by the tables so far.
func (r *reading[T]) want() int {
	if !r.limited || r.given == 0 {
		return r.options.Parallel
	}
	left := int(r.left.Load())
	return (left*r.done + r.given - 1) / r.given
}

// steps reads on from at, table after table.
func (r *reading[T]) steps(ctx context.Context, at place) iter.Seq2[step[T], error] {
	return func(yield func(step[T], error) bool) {
		if at.cursor != "" && r.covers(at.start) {
			first, err := r.fetch(ctx, at)
			if !r.follow(ctx, first, err, false, yield) {
				return
			}
			at.behind = true
		}
		starts, err := r.tables(ctx, at)
		if err != nil {
			yield(step[T]{}, err)
			return
		}
		window := parallel.Window{Start: r.options.Parallel, Max: r.options.Parallel, Want: r.want}
		if r.limited {
			window.Start = 1
		}
		i := 0
		for first, err := range parallel.Ordered(ctx, len(starts), window, func(ctx context.Context, i int) (step[T], error) {
			return r.fetch(ctx, place{start: starts[i]})
		}) {
			i++
			if !r.follow(ctx, first, err, i == len(starts), yield) {
				return
			}
		}
	}
}

// follow yields the first step of a table and reads the others. It reports whether
// to go on with the next table.
func (r *reading[T]) follow(ctx context.Context, s step[T], err error, last bool, yield func(step[T], error) bool) bool {
	for {
		if s.next.behind {
			r.done++
			s.last = last
		}
		if !yield(s, err) || err != nil {
			return false
		}
		if s.next.behind {
			return true
		}
		s, err = r.fetch(ctx, s.next)
	}
}

// fetch makes one step in one table. A table that is not there has no rows.
func (r *reading[T]) fetch(ctx context.Context, at place) (step[T], error) {
	table, err := r.set.reader(at.start)
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
	next := place{start: at.start, cursor: page.Cursor, behind: page.Cursor == ""}
	return step[T]{items: page.Items, table: table, next: next}, nil
}

// covers reports whether the period that begins at start is to be read.
func (r *reading[T]) covers(start time.Time) bool {
	return !start.Before(r.low) && (r.high.IsZero() || start.Before(r.high))
}

// tables gives the beginnings of the periods to read from at on, in the order of the
// reading.
func (r *reading[T]) tables(ctx context.Context, at place) ([]time.Time, error) {
	p, low, high := r.set.names.period, r.low, r.high
	if !at.start.IsZero() {
		bound := at.start // of what is behind at
		if at.behind != r.newest {
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
