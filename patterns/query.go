package patterns

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/query"
)

const (
	defaultParallel = 8
	maxParallel     = 1 << 12 // more is of no use to anybody
)

// QueryOptions are the options of [Table.Query] and [Table.Page]. nil and the zero
// value mean the defaults.
type QueryOptions struct {
	// Select names the properties to fetch; keys, ETag and Timestamp always come,
	// and are all that comes where it is empty and not nil. nil means the whole row.
	// It saves bytes, not work of the service. The items are [Item.Projected]: they
	// can be merged, not replaced.
	Select []string

	// Limit is the most rows to give. Zero means all; for Page, as many as
	// PageSize.
	Limit int

	// PageSize is how many rows to ask for in one request, 1 to 1000. Zero means
	// 1000, or Limit where that is less.
	PageSize int

	// Allow is the dearest class of query that may run. Zero means
	// [query.PartitionRange]: all but a scan of the whole table. A query above it is
	// refused with [query.ErrScan], which carries the plan.
	Allow query.Class

	// Parallel is how many requests may be under way at once, where the plan has
	// more than one. Zero means 8.
	Parallel int

	// Ordered refuses, with [ErrUnordered], a service that gives results in no
	// order (Cosmos DB for Table).
	Ordered bool
}

func (o *QueryOptions) check() error {
	switch {
	case o.Limit < 0:
		return errors.New("negative Limit")
	case o.PageSize < 0:
		return errors.New("negative PageSize")
	case o.PageSize > maxPage:
		return fmt.Errorf("PageSize: %w: more than %d rows", ErrTooLarge, maxPage)
	}
	return nil
}

// Query gives the rows that f matches, in key order (on Cosmos DB for Table in none,
// see [QueryOptions.Ordered]). Each pair is an item and nil, or a zero item and an
// error, after which the sequence ends. Rows are read as the loop asks for them, a
// page at a time; breaking off stops the reading, and leaves nothing running.
//
// The requests are at least those of [query.Plan.Requests], and one more for each
// further page. Not more than [QueryOptions.Parallel] of them are for rows that the
// loop never asks for.
//
// f is planned first (see [query.Explain]): exact keys become point reads and
// several partitions become one range read each, up to [QueryOptions.Parallel] at
// once. A scan of the whole table is refused unless allowed. A name or type in f
// that T does not have is an error before any request.
func (t *Table[T]) Query(ctx context.Context, f query.Filter, opts *QueryOptions) iter.Seq2[Item[T], error] {
	return t.rows.query(ctx, f, opts)
}

func (r *rows[T]) query(ctx context.Context, f query.Filter, opts *QueryOptions) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		q, err := r.plan(f, opts)
		if err != nil {
			yield(Item[T]{}, err)
			return
		}
		q.run(ctx, yield)
	}
}

// plan is a query made ready to run.
type plan[T any] struct {
	rows       *rows[T]
	reads      []query.Read
	filter     query.Filter
	selected   []string
	selectList string
	limit      int
	size       int
	parallel   int
	ordered    bool
	resumed    cursor.Cursor // the cursor that it goes on from
}

func (r *rows[T]) plan(f query.Filter, opts *QueryOptions) (*plan[T], error) {
	var o QueryOptions
	if opts != nil {
		o = *opts
	}
	q := &plan[T]{rows: r, filter: f, limit: o.Limit, size: o.PageSize, parallel: o.Parallel, ordered: o.Ordered}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if q.parallel <= 0 {
		q.parallel = defaultParallel
	}
	q.parallel = min(q.parallel, maxParallel)
	err := f.Err()
	if err == nil && r.schema != nil {
		err = f.Check(r.schema)
	}
	if err != nil {
		return nil, err
	}
	names, err := r.selection(o.Select)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	q.selected, q.selectList = names, selectList(names)

	p := query.ExplainWith(f, &query.ExplainOptions{Schema: r.schema})
	if err := p.Check(o.Allow); err != nil {
		return nil, err
	}
	q.reads = p.Reads()
	for i := range q.reads {
		if n := q.reads[i].Filter.Comparisons(); n > query.MaxComparisons {
			return nil, fmt.Errorf("query: %w: %d comparisons in one filter, the service takes %d", ErrTooLarge, n, query.MaxComparisons)
		}
	}
	return q, nil
}

func (q *plan[T]) pageSize() int {
	if q.size == 0 {
		return maxPage
	}
	return q.size
}

// run gives the rows of all reads in order. With more than one read it reads
// ahead; see [ahead].
func (q *plan[T]) run(ctx context.Context, yield func(Item[T], error) bool) {
	if err := q.check(); err != nil {
		yield(Item[T]{}, err)
		return
	}
	left := q.limit // 0 = no limit
	for step := range q.steps(ctx) {
		if err := q.check(); err != nil {
			step.err = err
		}
		if step.err != nil {
			yield(Item[T]{}, step.err)
			return
		}
		for i := range step.items {
			if !yield(step.items[i], nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
		q.rows.recycle(step.items)
	}
}

// check compares what the plan needs with the table that requests turned out to
// address. It says nothing before the first of them.
func (q *plan[T]) check() error {
	a, known := q.rows.wire.Address()
	switch {
	case !known:
		return nil
	case q.ordered && a.Cosmos():
		return fmt.Errorf("query: %w", ErrUnordered)
	case !q.resumed.Of(a.Base):
		return fmt.Errorf("query: %w", ErrBadCursor)
	}
	return nil
}
