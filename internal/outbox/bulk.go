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
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// maxQueued is how many operations a [Bulk] holds back at most, to fill transactions.
const maxQueued = 512 * wire.MaxBatchOps

// Bulk splits any number of operations into transactions: one queue per partition, the
// transactions of different partitions concurrently, those of one partition in order. Its
// methods must not be called concurrently.
type Bulk struct {
	store    *Store
	progress func(types.Progress)
	failed   func(index int, key keys.Key, source any, err error)
	slots    chan struct{} // one token for each queue that is worked off
	working  sync.WaitGroup

	mu      sync.Mutex // guards what follows, and serializes calls of progress and failed
	taken   *sync.Cond // some operations were taken from a queue
	queues  map[string]*bulkQueue
	pruneAt int // how many queues there may be before idle ones are removed
	queued  int
	counts  types.Progress
	fit     int // how many operations are likely to fit into a transaction
}

// bulkOp is an operation of the input.
type bulkOp struct {
	index  int
	in     *Intent
	source any
}

// bulkQueue holds the operations of one partition that are not carried out yet.
type bulkQueue struct {
	ops     []bulkOp
	working bool // a goroutine works it off
	all     bool // also the last operations, which do not fill a transaction
}

// NewBulk returns a Bulk that carries out operations of at most parallel partitions at a
// time. It calls progress after each transaction, and failed for each operation that was not
// applied or whose outcome is unknown. Calls do not overlap.
func NewBulk(s *Store, parallel int, progress func(types.Progress), failed func(index int, key keys.Key, source any, err error)) *Bulk {
	b := &Bulk{
		store: s, progress: progress, failed: failed, slots: make(chan struct{}, parallel),
		queues: map[string]*bulkQueue{}, pruneAt: 2 * wire.MaxBatchOps, fit: wire.MaxBatchOps,
	}
	b.taken = sync.NewCond(&b.mu)
	return b
}

// Add adds an operation to its partition's queue and starts what is full. err is why it
// cannot be carried out, if it cannot. Add blocks while as many partitions as allowed are
// being changed, or too many operations are queued.
func (b *Bulk) Add(ctx context.Context, in *Intent, source any, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	op := bulkOp{b.counts.Found, in, source}
	b.counts.Found++
	if err != nil {
		b.fail([]bulkOp{op}, err)
		b.progress(b.counts)
		return
	}
	q := b.queues[in.Key.Partition]
	if q == nil {
		if len(b.queues) >= b.pruneAt {
			maps.DeleteFunc(b.queues, func(_ string, q *bulkQueue) bool { return len(q.ops) == 0 && !q.working })
			b.pruneAt = 2 * max(len(b.queues), wire.MaxBatchOps)
		}
		q = &bulkQueue{}
		b.queues[in.Key.Partition] = q
	}
	q.ops = append(q.ops, op)
	b.queued++
	if len(q.ops) >= b.fit {
		b.start(ctx, q)
	}
	if b.queued >= maxQueued {
		b.startLongest(ctx)
	}
	for b.queued >= maxQueued {
		b.taken.Wait()
	}
}

// Flush carries out what is queued and waits until all is done.
func (b *Bulk) Flush(ctx context.Context) {
	b.mu.Lock()
	for _, q := range b.queues {
		q.all = true
		b.start(ctx, q)
	}
	b.mu.Unlock()
	b.working.Wait()
}

// Wait waits for the transactions in flight.
func (b *Bulk) Wait() { b.working.Wait() }

// startLongest starts about half of what is queued, the longest queues first.
func (b *Bulk) startLongest(ctx context.Context) {
	longest := slices.SortedFunc(maps.Values(b.queues), func(x, y *bulkQueue) int { return cmp.Compare(len(y.ops), len(x.ops)) })
	for started := 0; started <= maxQueued/2 && len(longest) > 0; longest = longest[1:] {
		started += len(longest[0].ops)
		longest[0].all = true
		b.start(ctx, longest[0])
	}
}

// start works off q, unless that is being done. It blocks while all slots are taken, and
// unlocks the mutex meanwhile.
func (b *Bulk) start(ctx context.Context, q *bulkQueue) {
	if q.working || len(q.ops) == 0 {
		return
	}
	q.working = true
	b.mu.Unlock()
	b.slots <- struct{}{}
	b.mu.Lock()
	b.working.Go(func() {
		defer func() { <-b.slots }()
		for ops := b.take(q); ops != nil; ops = b.take(q) {
			b.requeue(q, b.carryOut(ctx, ops))
		}
	})
}

// take takes the operations of the next transaction from q, each on another entity: nil if
// they do not fill one.
func (b *Bulk) take(q *bulkQueue) []bulkOp {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(q.ops) == 0 || len(q.ops) < b.fit && !q.all {
		q.working, q.all = false, false
		return nil
	}
	n, seen := 0, map[string]bool{}
	for n < min(b.fit, len(q.ops)) && !seen[q.ops[n].in.Key.Row] {
		seen[q.ops[n].in.Key.Row] = true
		n++
	}
	ops := q.ops[:n:n]
	q.ops = q.ops[n:]
	b.queued -= n
	b.taken.Signal()
	return ops
}

// requeue puts operations back that were taken and not carried out.
func (b *Bulk) requeue(q *bulkQueue, ops []bulkOp) {
	if len(ops) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	q.ops = slices.Concat(ops, q.ops)
	b.queued += len(ops)
}

// carryOut carries out operations in one transaction. It returns those that are still to be
// carried out: all but one if the transaction failed because of that one, and some if they
// do not go together, or do not fit.
func (b *Bulk) carryOut(ctx context.Context, ops []bulkOp) (rest []bulkOp) {
	if err := ctx.Err(); err != nil {
		b.record(0, func() { b.fail(ops, fmt.Errorf("not carried out: %w", err)) })
		return nil
	}
	ins := make([]*Intent, len(ops))
	for i := range ops {
		in := *ops[i].in // which the transaction may change
		ins[i] = &in
	}
	t := b.store.newTransaction(ins)
	_, err := t.run(ctx)
	n := len(ops)
	if err == nil {
		b.record(t.sent, func() {
			b.counts.Done += n
			b.fit = t.fit(n, b.fit)
		})
		return nil
	}
	var batch *types.BatchError
	var apart *notTogether
	alone, first := n == 1, 0 // the operations to carry out first, 0 for none
	switch errors.As(err, &batch); {
	case alone, errors.Is(err, azerr.ErrOutcomeUnknown), !isolated(err):
	case errors.As(err, &apart):
		first = max(1, batch.Index)
	case errors.Is(err, azerr.ErrNeedsAccelerate): // because of one row; the transaction was not sent, and alone the operation may be
		first, t.sent = n/2, t.sent-1
	case batch.Index >= 0:
		i := batch.Index
		b.record(t.sent, func() { b.fail(ops[i:i+1], batch.Err) })
		return slices.Concat(ops[:i], ops[i+1:])
	case errors.Is(err, azerr.ErrTooLarge):
		for i, op := range t.ops {
			if !op.Computed { // they have been read, and nothing was sent
				ops[i].in.Was, ops[i].in.Known = op.was, true
			}
		}
		first = t.fit(n, 0)
	case errors.Is(err, azerr.ErrConflict), errors.Is(err, azerr.ErrExists), errors.Is(err, azerr.ErrNotFound):
		first = n / 2
	}
	b.record(t.sent, func() {
		switch {
		case first == 0:
			b.fail(ops, err)
		case errors.Is(err, azerr.ErrTooLarge):
			b.fit = min(b.fit, first)
		}
	})
	if first == 0 {
		return nil
	}
	return slices.Concat(b.carryOut(ctx, ops[:first]), ops[first:])
}

// isolated reports whether a transaction may have failed because of one of its operations, so
// that others may succeed.
func isolated(err error) bool {
	var e *types.Error
	if errors.Is(err, azerr.ErrThrottled) || errors.Is(err, azerr.ErrTableNotFound) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return !errors.As(err, &e) || errors.Is(err, azerr.ErrNeedsAccelerate) || e.Status != 0 && e.Status < http.StatusInternalServerError
}

// fit estimates how many operations fit into a transaction, given that n operations, which are
// those of t, did, or did not if least is 0. It returns at least least.
func (t *transaction) fit(n, least int) int {
	rows := len(t.changed) + len(t.local) + len(t.needOutbox())
	if t.journal != nil {
		rows += t.journal.Rows()
	}
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
	b.counts.Failed += len(ops)
	for _, op := range ops {
		b.failed(op.index, op.in.Key, op.source, err)
	}
}

// record adds a result, and so many transactions, to the counts and reports progress.
func (b *Bulk) record(sent int, add func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Requests += sent
	add()
	b.progress(b.counts)
}
