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

// maxHeld is how many values Bulk groups at a time: as many as the Bulk of one table
// holds back to fill transactions with.
const maxHeld = 512 * patterns.MaxBatchOps

// Bulk writes any number of values, each to the table of its period, with the
// operation that op makes of it: [patterns.InsertOp], or a function that calls
// [patterns.UpsertOp]. Values are grouped by table, 51,200 at a time, and each group
// is written by [patterns.Table.Bulk]: transactions of up to 100, one partition
// each, options.Parallel at once. Operations on one row keep their order.
//
// Bulk is not atomic: every value stands for itself. The report counts all, with the
// failures by their index among the values; those of a dropped period match
// [ErrDropped], and had no request. The error is nil if all were written, else it
// matches the first failure.
//
// The requests are the transactions, and one for each table that is not known to
// exist.
func (s *Tables[T]) Bulk(ctx context.Context, values iter.Seq[T], op func(*T) patterns.Op[T], options *patterns.BulkOptions) (patterns.BulkReport, error) {
	var o patterns.BulkOptions
	if options != nil {
		o = *options
	}
	if values == nil || op == nil {
		return patterns.BulkReport{}, fmt.Errorf("bulk: values or operation: %w", patterns.ErrNil)
	}
	b := &bulk[T]{set: s, op: op, options: o, groups: make(map[int64]*group[T])}
	var ended error
	for v := range values {
		if ended = ctx.Err(); ended != nil {
			break
		}
		if b.take(v); b.held >= maxHeld {
			b.flush(ctx)
		}
	}
	b.flush(ctx)
	if len(b.report.Failures) > 0 {
		return b.report, fmt.Errorf("bulk: %d of %d operations not applied, one of them: %w",
			len(b.report.Failures), b.report.Taken, b.report.Failures[0].Err)
	}
	return b.report, ended
}

type bulk[T any] struct {
	set     *Tables[T]
	op      func(*T) patterns.Op[T]
	options patterns.BulkOptions
	groups  map[int64]*group[T] // by the beginning of the period
	held    int
	report  patterns.BulkReport
}

// group is the values of one period.
type group[T any] struct {
	start   time.Time
	values  []T
	indexes []int // among all values
}

func (b *bulk[T]) take(v T) {
	index := b.report.Taken
	b.report.Taken++
	start, err := b.set.periodOf(&v)
	if err != nil {
		b.fail(index, &v, err)
		b.progress(patterns.BulkProgress{})
		return
	}
	g := b.groups[start.Unix()]
	if g == nil {
		g = &group[T]{start: start}
		b.groups[start.Unix()] = g
	}
	g.values = append(g.values, v)
	g.indexes = append(g.indexes, index)
	b.held++
}

// flush writes what is held, the oldest period first.
func (b *bulk[T]) flush(ctx context.Context) {
	groups := slices.SortedFunc(maps.Values(b.groups), func(x, y *group[T]) int { return cmp.Compare(x.start.Unix(), y.start.Unix()) })
	clear(b.groups)
	b.held = 0
	for _, g := range groups {
		b.write(ctx, g)
	}
}

func (b *bulk[T]) write(ctx context.Context, g *group[T]) {
	s := b.set
	e, err := s.admit(g.start)
	if err == nil {
		err = s.ensure(ctx, e)
	}
	if err != nil {
		b.failAll(g, err)
		return
	}
	made := s.made(e)
	missing, err := b.send(ctx, e, g)
	if len(missing.values) == 0 {
		return
	}
	if err = s.replace(ctx, e, made, err); err == nil {
		if missing, err = b.send(ctx, e, missing); err == nil {
			return
		}
	}
	b.failAll(missing, err)
}

// send writes the values of g and notes what became of them, but for those that had
// no table: these it returns, and why.
func (b *bulk[T]) send(ctx context.Context, e *entry[T], g *group[T]) (missing *group[T], why error) {
	missing = &group[T]{start: g.start}
	options := b.options
	options.Progress = b.progress
	r, err := e.table.Bulk(ctx, func(yield func(patterns.Op[T]) bool) {
		for i := range g.values {
			if !yield(b.op(&g.values[i])) {
				return
			}
		}
	}, &options)
	b.report.Applied += r.Applied
	b.report.Requests += r.Requests
	for _, f := range r.Failures {
		if errors.Is(f.Err, patterns.ErrTableNotFound) && !errors.Is(f.Err, patterns.ErrOutcomeUnknown) {
			missing.values = append(missing.values, g.values[f.Index])
			missing.indexes = append(missing.indexes, g.indexes[f.Index])
			why = f.Err
			continue
		}
		f.Index = g.indexes[f.Index]
		b.report.Failed++
		b.report.Failures = append(b.report.Failures, f)
	}
	for i := r.Taken; i < len(g.values); i++ { // ctx has ended
		b.fail(g.indexes[i], &g.values[i], err)
	}
	return missing, why
}

func (b *bulk[T]) failAll(g *group[T], err error) {
	for i := range g.values {
		b.fail(g.indexes[i], &g.values[i], err)
	}
	b.progress(patterns.BulkProgress{})
}

func (b *bulk[T]) fail(index int, v *T, err error) {
	key, _ := b.set.model.Key(v) // none, where it is what is wrong
	b.report.Failed++
	b.report.Failures = append(b.report.Failures, patterns.BulkFailure{Index: index, Key: key, Err: err})
}

// progress tells the counts so far, with those of the table being written.
func (b *bulk[T]) progress(table patterns.BulkProgress) {
	if b.options.Progress == nil {
		return
	}
	p := b.report.BulkProgress
	p.Applied += table.Applied
	p.Failed += table.Failed
	p.Requests += table.Requests
	b.options.Progress(p)
}
