package txn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// A Bulk holds back at most so many operations, of so many bytes, to fill transactions.
const (
	maxQueued      = 512 * wire.MaxBatchOps
	maxQueuedBytes = 16 * wire.MaxBatchBytes
)

// Bulk splits any number of operations into transactions: one queue per partition, the
// transactions of different partitions concurrently, those of one partition in order.
type Bulk struct {
	Alone bool // an operation that is the only one of its transaction is sent without one

	table    *Table
	progress func(types.Progress)
	failed   func(index int, key keys.Key, op *Op, err error)
	slots    chan struct{} // one token for each transaction in flight
	running  sync.WaitGroup

	queues      map[string]*partitionQueue
	pruneAt     int // how many queues there may be before idle ones are removed
	queued      int
	queuedBytes int

	mu     sync.Mutex // guards counts, and serializes calls of progress and failed
	counts types.Progress
}

// queuedOp is an operation of the input that was neither applied nor reported yet.
type queuedOp struct {
	index int
	op    *Op
}

// partitionQueue holds the operations of one partition that are not sent yet.
type partitionQueue struct {
	batch *Batch
	ops   []queuedOp // of batch

	// busy has a token while a transaction of the partition is in flight. It is not a
	// mutex, because testing/synctest does not advance time for a goroutine that waits for
	// one.
	busy chan struct{}
}

// idle reports whether q can be removed: no later operation has to wait for it.
func (q *partitionQueue) idle() bool { return len(q.ops) == 0 && len(q.busy) == 0 }

// NewBulk returns a Bulk that has at most parallel requests in flight. After each request
// it calls progress, and failed for each operation that was not applied, or whose outcome is
// unknown; calls do not overlap. index is that of the operation in the input, from 0.
func NewBulk(t *Table, parallel int, progress func(types.Progress), failed func(index int, key keys.Key, op *Op, err error)) *Bulk {
	return &Bulk{
		table: t, progress: progress, failed: failed, slots: make(chan struct{}, parallel),
		queues: make(map[string]*partitionQueue), pruneAt: 2 * wire.MaxBatchOps,
	}
}

// Add adds op to its partition's queue and sends what is full. It blocks while as many
// transactions as allowed are in flight. op must not change until it was applied or
// reported.
func (b *Bulk) Add(ctx context.Context, op *Op) {
	b.mu.Lock()
	o := queuedOp{b.counts.Found, op}
	b.counts.Found++
	b.mu.Unlock()

	c, err := b.table.Prepare(op, nil)
	key := c.Key()
	if err != nil {
		b.fail(key, o, err)
		return
	}
	q := b.queues[key.Partition]
	if q == nil {
		q = &partitionQueue{batch: NewBatch(b.table.Client), busy: make(chan struct{}, 1)}
		b.queues[key.Partition] = q
	}
	if q.batch.AddChange(c, nil); q.batch.err != nil {
		b.flush(ctx, q)
		q.batch.AddChange(c, nil)
	}
	if q.batch.err != nil { // too large even alone
		b.fail(key, o, q.batch.err)
		q.batch = NewBatch(b.table.Client)
		return
	}
	q.ops = append(q.ops, o)
	b.queued++
	b.queuedBytes += len(c.Body)
	if q.batch.Len() == wire.MaxBatchOps {
		b.flush(ctx, q)
	} else if b.queued >= maxQueued || b.queuedBytes >= maxQueuedBytes {
		b.flushLargest(ctx)
	}
	if len(b.queues) >= b.pruneAt {
		maps.DeleteFunc(b.queues, func(_ string, q *partitionQueue) bool { return q.idle() })
		b.pruneAt = 2 * max(len(b.queues), wire.MaxBatchOps)
	}
}

// Flush sends what is queued and waits for all transactions.
func (b *Bulk) Flush(ctx context.Context) {
	for _, q := range b.queues {
		b.flush(ctx, q)
	}
	b.running.Wait()
}

// Wait waits for the transactions in flight.
func (b *Bulk) Wait() { b.running.Wait() }

// flushLargest sends about half of what is queued, the fullest transactions first.
func (b *Bulk) flushLargest(ctx context.Context) {
	fullest := slices.SortedFunc(maps.Values(b.queues), func(x, y *partitionQueue) int { return y.batch.bytes - x.batch.bytes })
	for _, q := range fullest {
		if b.queued <= maxQueued/2 && b.queuedBytes <= maxQueuedBytes/2 {
			return
		}
		b.flush(ctx, q)
	}
}

// flush sends what is in q. It blocks while all slots are taken, or a transaction of
// the same partition is in flight.
func (b *Bulk) flush(ctx context.Context, q *partitionQueue) {
	batch, ops := q.batch, q.ops
	batch.err = nil // of the operation that did not fit
	b.queued -= len(ops)
	for i := range batch.changes {
		b.queuedBytes -= len(batch.changes[i].Body)
	}
	q.batch, q.ops = NewBatch(b.table.Client), nil
	if len(ops) == 0 {
		return
	}
	q.busy <- struct{}{}
	b.slots <- struct{}{}
	b.running.Go(func() {
		defer func() { <-b.slots; <-q.busy }()
		b.commit(ctx, batch, ops)
	})
}

// commit sends a transaction. If it fails because of single operations it is sent again
// without them; if the service finds it too large, in two halves. A row that aztables
// cannot address in a transaction is sent alone, between the operations before and after it.
func (b *Bulk) commit(ctx context.Context, batch *Batch, ops []queuedOp) {
	for len(batch.changes) > 0 {
		if err := ctx.Err(); err != nil {
			b.failAll(batch, ops, fmt.Errorf("not sent: %w", err), false)
			return
		}
		if b.Alone && len(ops) == 1 {
			b.send(ctx, &batch.changes[0], ops[0])
			return
		}
		_, err := batch.Commit(ctx)
		if err == nil {
			b.record(func() { b.counts.Done += len(ops) }, true)
			return
		}
		f := new(types.BatchError) // err is of another type if nothing was sent
		errors.As(err, &f)
		switch n := len(ops); {
		case errors.Is(f.Err, azerr.ErrNeedsAccelerate):
			i := f.Index
			alone := batch.splitOff(i)
			b.commit(ctx, batch, ops[:i])
			batch = alone.splitOff(1)
			b.send(ctx, &alone.changes[0], ops[i])
			ops = ops[i+1:]
		case isOneRow(f):
			i := f.Index
			b.record(func() { b.addFailure(ops[i], f.Key, f.Err) }, f.Status != 0)
			batch.remove(i)
			ops = append(ops[:i:i], ops[i+1:]...)
		case n > 1 && f.Index < 0 && errors.Is(err, azerr.ErrTooLarge) && !errors.Is(err, azerr.ErrOutcomeUnknown):
			b.record(func() {}, true)
			tail := batch.splitOff(n / 2)
			b.commit(ctx, batch, ops[:n/2])
			batch, ops = tail, ops[n/2:]
		default:
			b.failAll(batch, ops, err, true)
			return
		}
	}
}

// isOneRow reports whether the transaction failed because of the one operation that the
// error names, so that the others may succeed without it.
func isOneRow(e *types.BatchError) bool {
	return e.Index >= 0 && e.Err != nil && !errors.Is(e, azerr.ErrOutcomeUnknown) &&
		!errors.Is(e, azerr.ErrThrottled) && !errors.Is(e, azerr.ErrTableNotFound)
}

// send sends one operation outside a transaction.
func (b *Bulk) send(ctx context.Context, c *Change, o queuedOp) {
	if err := ctx.Err(); err != nil {
		b.fail(c.Key(), o, fmt.Errorf("not sent: %w", err))
		return
	}
	_, err := Send(ctx, b.table.Client, *c)
	b.record(func() {
		if err != nil {
			b.addFailure(o, c.Key(), err)
		} else {
			b.counts.Done++
		}
	}, !errors.Is(err, azerr.ErrNeedsAccelerate))
}

func (b *Bulk) failAll(batch *Batch, ops []queuedOp, err error, sent bool) {
	b.record(func() {
		for i := range batch.changes {
			b.addFailure(ops[i], batch.changes[i].Key(), err)
		}
	}, sent)
}

func (b *Bulk) fail(key keys.Key, o queuedOp, err error) {
	b.record(func() { b.addFailure(o, key, err) }, false)
}

// record adds a result to the counts and reports progress.
func (b *Bulk) record(add func(), sent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add()
	if sent {
		b.counts.Requests++
	}
	b.progress(b.counts)
}

func (b *Bulk) addFailure(o queuedOp, key keys.Key, err error) {
	b.counts.Failed++
	b.failed(o.index, key, o.op, err)
}
