package highvolumedelete

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// maxQueued is how many values Bulk groups by table at a time: as many as
// [patterns.Table.Bulk] holds to fill transactions.
const maxQueued = 512 * patterns.MaxBatchOps

// Bulk writes any number of values, each to the table of its period. op returns the
// operation for a value: [patterns.InsertOp], or a function that calls [patterns.UpsertOp].
// Bulk groups 51,200 values at a time by table and writes each group with
// [patterns.Table.Bulk]: in transactions of up to 100 operations of one partition,
// options.Parallel of them concurrently. Operations on the same row keep their order.
//
// Bulk is not atomic. The report counts all values and contains the failures with their
// index among the values. Failures of dropped periods match [ErrDropped] and took no
// request. The error is nil if all values were written, and otherwise matches the first
// failure.
//
// Bulk makes the requests of [patterns.Table.Bulk], and one for each table that is not known to
// exist.
func (s *Tables[T]) Bulk(ctx context.Context, values iter.Seq[T], op func(*T) patterns.Op[T], options *patterns.BulkOptions) (patterns.BulkReport[patterns.Op[T]], error) {
	var o patterns.BulkOptions
	if options != nil {
		o = *options
	}
	if values == nil || op == nil {
		return patterns.BulkReport[patterns.Op[T]]{}, fmt.Errorf("bulk: values or operation: %w", patterns.ErrNil)
	}
	b := &bulk[T]{set: s, op: op, options: o, groups: make(map[int64]*group[T])}
	var ended error
	for v := range values {
		if ended = ctx.Err(); ended != nil {
			break
		}
		if b.add(v); b.queued >= maxQueued {
			b.flush(ctx)
		}
	}
	b.flush(ctx)
	if len(b.report.Failures) > 0 {
		return b.report, fmt.Errorf("bulk: %d of %d operations not applied, one of them: %w",
			len(b.report.Failures), b.report.Found, b.report.Failures[0].Err)
	}
	return b.report, ended
}

type bulk[T any] struct {
	set     *Tables[T]
	op      func(*T) patterns.Op[T]
	options patterns.BulkOptions
	groups  map[int64]*group[T] // by the start of the period
	queued  int                 // values in groups
	report  patterns.BulkReport[patterns.Op[T]]
}

// group contains the values of one period.
type group[T any] struct {
	start   time.Time
	values  []T
	indexes []int // among all values
}

// add adds a value to the group of its period.
func (b *bulk[T]) add(v T) {
	index := b.report.Found
	b.report.Found++
	start, err := b.set.periodOf(&v)
	if err != nil {
		b.fail(index, v, err)
		b.progress(patterns.Progress{})
		return
	}
	g := b.groups[start.Unix()]
	if g == nil {
		g = &group[T]{start: start}
		b.groups[start.Unix()] = g
	}
	g.values = append(g.values, v)
	g.indexes = append(g.indexes, index)
	b.queued++
}

// flush writes all groups, the oldest period first.
func (b *bulk[T]) flush(ctx context.Context) {
	groups := slices.SortedFunc(maps.Values(b.groups), func(x, y *group[T]) int { return cmp.Compare(x.start.Unix(), y.start.Unix()) })
	clear(b.groups)
	b.queued = 0
	for _, g := range groups {
		b.write(ctx, g)
	}
}

// write writes a group. If its table was known to exist and is missing, write creates the
// table and writes the values again.
func (b *bulk[T]) write(ctx context.Context, g *group[T]) {
	s := b.set
	e, err := s.admit(ctx, g.start)
	if err == nil {
		err = s.ensure(ctx, e)
	}
	if err != nil {
		b.failAll(g, err)
		return
	}
	seen := s.timesSeen(e)
	unsent, err := b.send(ctx, e, g)
	if len(unsent.values) == 0 {
		return
	}
	if err = s.recreate(ctx, e, seen, err); err == nil {
		if unsent, err = b.send(ctx, e, unsent); err == nil {
			return
		}
	}
	b.failAll(unsent, err)
}

// send writes the values of g and records their outcome. It returns the values that failed
// because the table does not exist, and the error of one of them.
func (b *bulk[T]) send(ctx context.Context, e *tableState[T], g *group[T]) (unsent *group[T], missing error) {
	unsent = &group[T]{start: g.start}
	options := b.options
	options.Progress = b.progress
	r, err := e.table.Bulk(ctx, func(yield func(patterns.Op[T]) bool) {
		for i := range g.values {
			if !yield(b.op(&g.values[i])) {
				return
			}
		}
	}, &options)
	b.report.Done += r.Done
	b.report.Requests += r.Requests
	for _, f := range r.Failures {
		if errors.Is(f.Err, patterns.ErrTableNotFound) && !errors.Is(f.Err, patterns.ErrOutcomeUnknown) {
			unsent.values = append(unsent.values, g.values[f.Index])
			unsent.indexes = append(unsent.indexes, g.indexes[f.Index])
			missing = f.Err
			continue
		}
		b.fail(g.indexes[f.Index], g.values[f.Index], f.Err)
	}
	for i := r.Found; i < len(g.values); i++ { // ctx has ended
		b.fail(g.indexes[i], g.values[i], err)
	}
	return unsent, missing
}

func (b *bulk[T]) failAll(g *group[T], err error) {
	for i := range g.values {
		b.fail(g.indexes[i], g.values[i], err)
	}
	b.progress(patterns.Progress{})
}

// fail records a failure. It refers to a copy of the value, so that the values of the group
// are not kept.
func (b *bulk[T]) fail(index int, v T, err error) {
	key, _ := b.set.model.Key(&v) // zero if the key is the problem
	b.report.Failed++
	b.report.Failures = append(b.report.Failures, patterns.BulkFailure[patterns.Op[T]]{Index: index, Key: key, Op: b.op(&v), Err: err})
}

// progress reports the counts so far, including those of the table being written.
func (b *bulk[T]) progress(table patterns.Progress) {
	if b.options.Progress == nil {
		return
	}
	p := b.report.Progress
	p.Done += table.Done
	p.Failed += table.Failed
	p.Requests += table.Requests
	b.options.Progress(p)
}
