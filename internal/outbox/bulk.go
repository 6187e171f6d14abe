package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// maxQueued is how many operations a [Bulk] holds back at most, to fill transactions.
const maxQueued = 512 * wire.MaxBatchOps

// Bulk splits any number of operations into transactions: one queue per partition, the
// transactions of different partitions concurrently, those of one partition in order. Its
// methods must not be called concurrently.
type Bulk struct {
	store    *Store
	progress func(txn.BulkCounts)
	failed   func(index int, key keys.Key, source any, err error)
	slots    chan struct{} // one token for each partition whose operations are being carried out
	running  sync.WaitGroup

	queues  map[string]*bulkQueue
	pruneAt int // how many queues there may be before idle ones are removed
	queued  int

	mu     sync.Mutex // guards the following fields, and serializes calls of progress and failed
	counts txn.BulkCounts
	fit    int // how many operations are likely to fit into a transaction
}

// bulkOp is an operation of the input.
type bulkOp struct {
	index  int
	in     *Intent
	source any
}

// bulkQueue holds the operations of one partition that are not carried out yet, each on
// another entity.
type bulkQueue struct {
	ops  []bulkOp
	rows map[string]bool // their row keys

	// busy has a token while operations of the partition are being carried out. It is not a
	// mutex, because testing/synctest does not advance time for a goroutine that waits for
	// one.
	busy chan struct{}
}

// NewBulk returns a Bulk that carries out operations of at most parallel partitions at a
// time. It calls progress after each transaction, and failed for each operation that was not
// applied or whose outcome is unknown. Calls do not overlap.
func NewBulk(s *Store, parallel int, progress func(txn.BulkCounts), failed func(index int, key keys.Key, source any, err error)) *Bulk {
	return &Bulk{
		store: s, progress: progress, failed: failed, slots: make(chan struct{}, parallel),
		queues: map[string]*bulkQueue{}, pruneAt: 2 * wire.MaxBatchOps, fit: wire.MaxBatchOps,
	}
}

// Add adds an operation to its partition's queue and starts what is full. err is why it
// cannot be carried out, if it cannot. Add blocks while as many partitions as allowed are
// being changed.
func (b *Bulk) Add(ctx context.Context, in *Intent, source any, err error) {
	b.mu.Lock()
	op, fit := bulkOp{b.counts.Taken, in, source}, b.fit
	b.counts.Taken++
	b.mu.Unlock()
	if err != nil {
		b.fail([]bulkOp{op}, err)
		return
	}
	q := b.queues[in.Key.Partition]
	if q == nil {
		if len(b.queues) >= b.pruneAt {
			maps.DeleteFunc(b.queues, func(_ string, q *bulkQueue) bool { return len(q.ops) == 0 && len(q.busy) == 0 })
			b.pruneAt = 2 * max(len(b.queues), wire.MaxBatchOps)
		}
		q = &bulkQueue{rows: map[string]bool{}, busy: make(chan struct{}, 1)}
		b.queues[in.Key.Partition] = q
	}
	if q.rows[in.Key.Row] {
		b.flush(ctx, q)
	}
	q.ops = append(q.ops, op)
	q.rows[in.Key.Row] = true
	b.queued++
	if len(q.ops) >= fit {
		b.flush(ctx, q)
	} else if b.queued >= maxQueued {
		b.flushLongest(ctx)
	}
}

// Flush carries out what is queued and waits until all is done.
func (b *Bulk) Flush(ctx context.Context) {
	for _, q := range b.queues {
		b.flush(ctx, q)
	}
	b.running.Wait()
}

// Wait waits for the transactions in flight.
func (b *Bulk) Wait() { b.running.Wait() }

// flushLongest carries out about half of what is queued, the longest queues first.
func (b *Bulk) flushLongest(ctx context.Context) {
	longest := slices.SortedFunc(maps.Values(b.queues), func(x, y *bulkQueue) int { return cmp.Compare(len(y.ops), len(x.ops)) })
	for _, q := range longest {
		if b.queued <= maxQueued/2 {
			return
		}
		b.flush(ctx, q)
	}
}

// flush carries out what is in q. It blocks while all slots are taken, or operations of the
// same partition are being carried out.
func (b *Bulk) flush(ctx context.Context, q *bulkQueue) {
	ops := q.ops
	b.queued -= len(ops)
	q.ops, q.rows = nil, map[string]bool{}
	if len(ops) == 0 {
		return
	}
	q.busy <- struct{}{}
	b.slots <- struct{}{}
	b.running.Go(func() {
		defer func() { <-b.slots; <-q.busy }()
		for len(ops) > 0 {
			b.mu.Lock()
			n := min(b.fit, len(ops))
			b.mu.Unlock()
			ops = slices.Concat(b.carryOut(ctx, ops[:n]), ops[n:])
		}
	})
}

// carryOut carries out operations in one transaction. It returns those that are still to be
// carried out: all but one if the transaction failed because of that one, and the second part
// if they do not go together.
func (b *Bulk) carryOut(ctx context.Context, ops []bulkOp) (rest []bulkOp) {
	if err := ctx.Err(); err != nil {
		b.fail(ops, fmt.Errorf("not carried out: %w", err))
		return nil
	}
	ins := make([]*Intent, len(ops))
	for i := range ops {
		in := *ops[i].in // which the transaction may change
		ins[i] = &in
	}
	t := b.store.newTransaction(ins)
	_, err := t.run(ctx)
	if err == nil {
		b.record(t.sent, func() {
			b.counts.Applied += len(ops)
			b.fit = t.fit(len(ops), b.fit)
		})
		return nil
	}
	b.record(t.sent, func() {})
	n := len(ops)
	var batch *txn.BatchError
	var apart *notTogether
	switch errors.As(err, &batch); {
	case n == 1:
	case errors.Is(err, azerr.ErrOutcomeUnknown), !isolated(err):
	case errors.As(err, &apart):
		return b.split(ctx, ops, max(1, batch.Index))
	case batch.Index >= 0:
		b.fail(ops[batch.Index:batch.Index+1], batch.Err)
		return slices.Delete(slices.Clone(ops), batch.Index, batch.Index+1)
	case errors.Is(err, azerr.ErrTooLarge):
		for i, op := range t.ops {
			if !op.Computed { // they have been read, and nothing was sent
				ops[i].in.Was, ops[i].in.Known = op.was, true
			}
		}
		fits := t.fit(n, 0)
		b.record(0, func() { b.fit = fits })
		return b.split(ctx, ops, fits)
	default:
		return b.split(ctx, ops, n/2)
	}
	b.fail(ops, err)
	return nil
}

// split carries out the first n operations and returns the others.
func (b *Bulk) split(ctx context.Context, ops []bulkOp, n int) (rest []bulkOp) {
	for first := ops[:n]; len(first) > 0; {
		first = b.carryOut(ctx, first)
	}
	return ops[n:]
}

// isolated reports whether a transaction may have failed because of one of its operations, so
// that others may succeed.
func isolated(err error) bool {
	var e *azerr.Error
	if errors.Is(err, azerr.ErrThrottled) || errors.Is(err, azerr.ErrTableNotFound) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return !errors.As(err, &e) || e.Status != 0 && e.Status < http.StatusInternalServerError
}

// fit estimates how many operations fit into a transaction, given that n operations, which are
// those of t, did, or did not if least is 0. It returns at least least.
func (t *transaction) fit(n, least int) int {
	rows := len(t.changed) + len(t.local) + len(t.needOutbox())
	if rows == 0 {
		return max(least, 1)
	}
	fits := n * wire.MaxBatchOps / rows
	if least == 0 {
		fits = min(fits, n-1)
		if rows <= wire.MaxBatchOps { // their bytes are too many
			fits = n / 2
		}
	}
	return min(max(fits, least, 1), wire.MaxBatchOps)
}

// fail reports operations that were not applied.
func (b *Bulk) fail(ops []bulkOp, err error) {
	b.record(0, func() {
		b.counts.Failed += len(ops)
		for _, op := range ops {
			var key keys.Key
			if op.in != nil {
				key = op.in.Key
			}
			b.failed(op.index, key, op.source, err)
		}
	})
}

// record adds a result, and so many transactions, to the counts and reports progress.
func (b *Bulk) record(sent int, add func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add()
	b.counts.Requests += sent
	b.progress(b.counts)
}
