package patterns

import (
	"context"
	"errors"
	"iter"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// step is the rows of one request, or the error it ended with.
type step[T any] struct {
	items []Item[T]
	err   error
}

// opening is the first request of a read.
type opening[T any] struct {
	read  int
	items []Item[T]
	next  wire.Position
}

// steps does the plan's reads and gives their rows in order. While the rows of one
// read are consumed, the first requests of the following ones are under way; with a
// limit only as many as could be needed: a point read gives one row at most, so as
// many of them as rows are wanted are wanted; a range may give all of them, so
// more than one at a time are read only when the first proved to be short.
func (q *plan[T]) steps(ctx context.Context) iter.Seq[step[T]] {
	return func(yield func(step[T]) bool) {
		given := 0
		size := func() int {
			if q.limit == 0 {
				return q.pageSize()
			}
			return min(q.pageSize(), q.limit-given)
		}
		first := size()
		window := parallel.Window{Start: q.parallel, Max: q.parallel}
		if q.limit > 0 {
			if len(q.reads) > 0 && !q.reads[0].Point {
				window.Start = 1
			}
			window.Want = func() int { return q.limit - given }
		}
		for o, err := range parallel.Ordered(ctx, len(q.reads), window, func(ctx context.Context, i int) (opening[T], error) {
			return q.open(ctx, i, first)
		}) {
			for {
				given += len(o.items)
				if !yield(step[T]{o.items, err}) || err != nil {
					return
				}
				if q.limit > 0 && given >= q.limit {
					return
				}
				if o.next == (wire.Position{}) {
					break
				}
				o.items, o.next, err = q.readPage(ctx, q.reads[o.read].Filter, o.next, size())
			}
		}
	}
}

// open makes the first request of a read.
func (q *plan[T]) open(ctx context.Context, i, size int) (opening[T], error) {
	if q.reads[i].Point && q.selected == nil {
		item, err := q.rows.get(ctx, q.reads[i].Key)
		if errors.Is(err, ErrNotFound) {
			return opening[T]{read: i}, nil
		}
		return opening[T]{read: i, items: []Item[T]{item}}, err
	}
	items, next, err := q.readPage(ctx, q.reads[i].Filter, wire.Position{}, size)
	return opening[T]{i, items, next}, err
}

// look reads a point to its end: the pages before the one that has the row, if any
// has it, may be empty.
func (q *plan[T]) look(ctx context.Context, i int) ([]Item[T], error) {
	o, err := q.open(ctx, i, 1)
	for err == nil && len(o.items) == 0 && o.next != (wire.Position{}) {
		o.items, o.next, err = q.readPage(ctx, q.reads[i].Filter, o.next, 1)
	}
	return o.items, err
}
