package patterns

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/azpatterns/azpatterns/keys"
)

// BulkOptions are the options of [Table.Bulk]. nil and the zero value mean the
// defaults.
type BulkOptions struct {
	// Parallel is how many transactions may be under way at once, each of another
	// partition. Zero means 8.
	Parallel int

	// Progress, if set, is told the counts so far after each transaction. Calls do
	// not overlap.
	Progress func(BulkProgress)
}

// BulkProgress counts operations and requests so far.
type BulkProgress struct {
	Taken    int // operations taken from the input
	Applied  int // operations applied
	Failed   int // operations not applied, or whose outcome is unknown
	Requests int // transactions sent, repeated ones included
}

// BulkReport says what became of the operations.
type BulkReport struct {
	BulkProgress
	Failures []BulkFailure // in no order
}

// BulkFailure is an operation that was not applied. Err matches
// [ErrOutcomeUnknown] where it may have been.
type BulkFailure struct {
	Index int // of the operation in the input, from 0
	Key   keys.Key
	Err   error
}

// Bulk holds back so many operations, of so many bytes, to fill transactions with.
const (
	maxWaiting      = 512 * MaxBatchOps
	maxWaitingBytes = 16 * MaxBatchBytes
)

// Bulk carries out any number of operations: it groups them by partition, packs
// them into transactions of up to 100 operations and 4 MiB, and sends those of
// different partitions side by side. Operations on one partition are applied in
// their order; so are two on the same row, in two transactions. At most 51,200
// operations, or 64 MiB of rows, wait for their transactions to fill.
//
// Bulk as a whole is not atomic. When a transaction fails for one operation, that
// one is reported and the others are sent again without it; so every operation
// stands for itself. The error is nil if all were applied; else it matches the
// first failure. When ctx ends Bulk stops taking operations, and reports those it
// took but did not send.
func (t *Table[T]) Bulk(ctx context.Context, ops iter.Seq[Op[T]], opts *BulkOptions) (BulkReport, error) {
	var o BulkOptions
	if opts != nil {
		o = *opts
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if ops == nil {
		return BulkReport{}, fmt.Errorf("bulk: operations: %w", ErrNil)
	}
	b := &bulk[T]{table: t, progress: o.Progress, slots: make(chan struct{}, o.Parallel), lanes: make(map[string]*lane[T]), sweepAt: 2 * MaxBatchOps}
	defer b.running.Wait() // also where ops panics
	var ended error
	for op := range ops {
		if ended = ctx.Err(); ended != nil {
			break
		}
		b.take(ctx, op)
	}
	for _, l := range b.lanes {
		b.flush(ctx, l)
	}
	b.running.Wait() // for the report
	if len(b.report.Failures) > 0 {
		return b.report, fmt.Errorf("bulk: %d of %d operations not applied, one of them: %w",
			len(b.report.Failures), b.report.Taken, b.report.Failures[0].Err)
	}
	return b.report, ended
}

type bulk[T any] struct {
	table    *Table[T]
	progress func(BulkProgress)
	slots    chan struct{} // one token for each transaction under way
	running  sync.WaitGroup

	lanes        map[string]*lane[T] // by partition
	sweepAt      int                 // how many lanes are reason to look for idle ones
	waiting      int
	waitingBytes int

	mu     sync.Mutex // guards report, and calls of progress
	report BulkReport
}

// lane is the operations of one partition.
type lane[T any] struct {
	batch   *Batch[T]
	indexes []int

	// busy has a token while a transaction of the partition is under way. It is no
	// mutex, because testing/synctest would not move the clock for who waits for one.
	busy chan struct{}
}

// idle reports whether l can be forgotten: its order matters to nobody.
func (l *lane[T]) idle() bool {
	return len(l.indexes) == 0 && len(l.busy) == 0
}

// take adds op to its partition's lane and sends what is full.
func (b *bulk[T]) take(ctx context.Context, op Op[T]) {
	b.mu.Lock()
	index := b.report.Taken
	b.report.Taken++
	b.mu.Unlock()

	c, err := b.table.prepare(&op, nil)
	key := c.key()
	if err != nil {
		b.fail(key, index, err)
		return
	}
	l := b.lanes[key.Partition]
	if l == nil {
		l = &lane[T]{batch: b.table.Batch(), busy: make(chan struct{}, 1)}
		b.lanes[key.Partition] = l
	}
	if l.batch.add(c, nil); l.batch.err != nil {
		b.flush(ctx, l)
		l.batch.add(c, nil)
	}
	if l.batch.err != nil { // too large even alone
		b.fail(key, index, l.batch.err)
		l.batch = b.table.Batch()
		return
	}
	l.indexes = append(l.indexes, index)
	b.waiting++
	b.waitingBytes += len(c.Body)
	if len(l.batch.changes) == MaxBatchOps {
		b.flush(ctx, l)
	} else if b.waiting >= maxWaiting || b.waitingBytes >= maxWaitingBytes {
		b.relieve(ctx)
	}
	if len(b.lanes) >= b.sweepAt {
		maps.DeleteFunc(b.lanes, func(_ string, l *lane[T]) bool { return l.idle() })
		b.sweepAt = 2 * max(len(b.lanes), MaxBatchOps)
	}
}

// relieve sends about half of what waits, the fullest transactions first.
func (b *bulk[T]) relieve(ctx context.Context) {
	fullest := slices.SortedFunc(maps.Values(b.lanes), func(x, y *lane[T]) int { return y.batch.bytes - x.batch.bytes })
	for _, l := range fullest {
		if b.waiting <= maxWaiting/2 && b.waitingBytes <= maxWaitingBytes/2 {
			return
		}
		b.flush(ctx, l)
	}
}

// flush sends what waits in l. It blocks while all slots are taken, or a
// transaction of the same partition is under way.
func (b *bulk[T]) flush(ctx context.Context, l *lane[T]) {
	batch, indexes := l.batch, l.indexes
	batch.err = nil // of the operation that did not fit
	b.waiting -= len(indexes)
	for i := range batch.changes {
		b.waitingBytes -= len(batch.changes[i].Body)
	}
	l.batch, l.indexes = b.table.Batch(), nil
	if len(indexes) == 0 {
		return
	}
	l.busy <- struct{}{}
	b.slots <- struct{}{}
	b.running.Go(func() {
		defer func() { <-b.slots; <-l.busy }()
		b.commit(ctx, batch, indexes)
	})
}

// commit sends a transaction: without the operations for which it fails, and in
// two where the service finds it too large.
func (b *bulk[T]) commit(ctx context.Context, batch *Batch[T], indexes []int) {
	for len(batch.changes) > 0 {
		if err := ctx.Err(); err != nil {
			b.failAll(batch, indexes, fmt.Errorf("not sent: %w", err), false)
			return
		}
		_, err := batch.Commit(ctx)
		if err == nil {
			b.done(func(r *BulkReport) { r.Applied += len(indexes) }, true)
			return
		}
		f := new(BatchError) // of another type where nothing was sent
		errors.As(err, &f)
		switch n := len(indexes); {
		case f.oneRow():
			i := f.Index
			b.done(func(r *BulkReport) { r.addFailure(indexes[i], f.Key, f.err) }, f.Status != 0)
			batch.drop(i)
			indexes = append(indexes[:i:i], indexes[i+1:]...)
		case n > 1 && f.Index < 0 && errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrOutcomeUnknown):
			b.done(func(*BulkReport) {}, true)
			tail := b.table.Batch()
			for _, c := range batch.changes[n/2:] {
				tail.add(c, nil)
			}
			batch.keepFirst(n / 2)
			b.commit(ctx, batch, indexes[:n/2])
			batch, indexes = tail, indexes[n/2:]
		default:
			b.failAll(batch, indexes, err, true)
			return
		}
	}
}

// oneRow reports whether the transaction failed for the one operation that it
// names, so that the others may do better without it.
func (e *BatchError) oneRow() bool {
	return e.Index >= 0 && e.err != nil && !errors.Is(e, ErrOutcomeUnknown) &&
		!errors.Is(e, ErrThrottled) && !errors.Is(e, ErrTableNotFound)
}

func (b *bulk[T]) failAll(batch *Batch[T], indexes []int, err error, sent bool) {
	b.done(func(r *BulkReport) {
		for i := range batch.changes {
			r.addFailure(indexes[i], batch.changes[i].key(), err)
		}
	}, sent)
}

func (b *bulk[T]) fail(key keys.Key, index int, err error) {
	b.done(func(r *BulkReport) { r.addFailure(index, key, err) }, false)
}

// done notes a result and reports progress.
func (b *bulk[T]) done(note func(*BulkReport), sent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	note(&b.report)
	if sent {
		b.report.Requests++
	}
	if b.progress != nil {
		b.progress(b.report.BulkProgress)
	}
}

func (r *BulkReport) addFailure(index int, key keys.Key, err error) {
	r.Failed++
	r.Failures = append(r.Failures, BulkFailure{index, key, err})
}
