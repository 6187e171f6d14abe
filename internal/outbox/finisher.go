package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Finisher does the end of transactions after their calls have returned, for those of a partition together: the last reads of
// the primaries, the deletes of the outbox rows, and those of the messages. It also puts the messages of transactions together
// that begin while another message of the partition is being put. What it holds when its process ends, workers do.
type Finisher struct {
	maxHeld  int           // transactions; the calls of further ones do all
	maxAge   time.Duration // of what is held; 0: a quarter of Config.Grace, which is the limit in any case
	messages calls.Shared[messageGroup, outgoing, *sentMessage]

	mu      sync.Mutex // guards what follows, and drain.open of what is held
	closed  bool
	stats   types.FinisherStats
	groups  map[partitionOf]*heldGroup        // that wait
	running map[*heldGroup]context.CancelFunc // that are being finished
	ended   *sync.Cond                        // fewer are held
}

// NewFinisher returns a Finisher.
func NewFinisher(maxHeld int, maxAge, wait time.Duration) *Finisher {
	f := &Finisher{
		maxHeld: maxHeld, maxAge: maxAge,
		groups: map[partitionOf]*heldGroup{}, running: map[*heldGroup]context.CancelFunc{},
	}
	f.ended, f.messages.Wait = sync.NewCond(&f.mu), wait
	return f
}

// partitionOf is a partition of a Store, and of those within a partition of it.
type partitionOf struct {
	store     *ownership
	partition string
}

// heldGroup is transactions whose outbox rows are deleted together.
type heldGroup struct {
	at    partitionOf
	store *Store
	held  []*heldTransaction
	rows  int // outbox rows
	timer *time.Timer
}

// heldTransaction is a transaction all of whose writes were answered.
type heldTransaction struct {
	rows    []outboxRef
	drains  []*drain
	message *sentMessage
	failed  bool // it is left to a worker
}

// byFinisher leaves the end of transactions to a Finisher.
type byFinisher struct {
	inCall
	*Finisher
}

// before also notes the open reads of primaries.
func (f byFinisher) before(ctx context.Context, t *transaction, drains []*drain, failed *atomic.Bool) []func() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.groups[partitionOf{t.store.owner, t.partition()}]; g != nil {
		t.open = g.open()
	}
	return f.inCall.before(ctx, t, drains, failed)
}

func (f byFinisher) complete(ctx context.Context, t *transaction, st *state, drains []*drain, done *committed) error {
	f.replaced(t)
	if t.repairsRows() || !done.deletable() || !f.accept() {
		return f.inCall.complete(ctx, t, st, drains, done)
	}
	h := &heldTransaction{rows: done.outbox, drains: drains, message: st.message}
	complete := false
	defer func() {
		if !complete { // also after a panic of the program
			f.end(0, 1)
		}
	}()
	for _, d := range drains {
		d.held = h
	}
	if complete, _ = t.drain(ctx, st, drains, done); complete {
		for _, d := range drains {
			d.forget()
		}
		f.hold(t.store, t.partition(), h)
	}
	return nil
}

// replaced ends the open reads of primaries that t has changed: its condition was the version that they are to find.
func (f *Finisher) replaced(t *transaction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range t.open {
		d.open = d.open && !slices.ContainsFunc(t.changed, func(op *operation) bool { return op.Key == d.primary && op.primary.ETag == d.version })
	}
}

// accept reports whether there is room for a transaction, and keeps it.
func (f *Finisher) accept() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.stats.Held >= f.maxHeld {
		return false
	}
	f.stats.Held++
	return true
}

// end counts transactions that are not held any more.
func (f *Finisher) end(finished, left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Held -= finished + left
	f.stats.Finished += finished
	f.stats.Left += left
	f.ended.Broadcast()
}

func (f *Finisher) hold(s *Store, partition string, h *heldTransaction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := partitionOf{s.owner, partition}
	g := f.groups[at]
	if g != nil && g.rows+len(h.rows) > wire.MaxBatchOps {
		f.start(g)
		g = nil
	}
	if g == nil {
		g = &heldGroup{at: at, store: s}
		f.groups[at] = g
		age := s.Grace / 4
		if f.maxAge > 0 {
			age = min(age, f.maxAge)
		}
		g.timer = time.AfterFunc(age, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.start(g)
		})
	}
	g.held = append(g.held, h)
	if g.rows += len(h.rows); g.rows == wire.MaxBatchOps || f.closed {
		f.start(g)
	}
}

// start finishes a group, unless that was started before.
func (f *Finisher) start(g *heldGroup) {
	if f.groups[g.at] != g {
		return
	}
	delete(f.groups, g.at)
	g.timer.Stop()
	f.stats.Groups++
	ctx, cancel := context.WithTimeout(context.Background(), g.store.Grace) // then workers do what is left
	f.running[g] = cancel
	open, all := g.open(), len(g.held)
	go func() {
		defer cancel()
		finished := g.finish(ctx, open)
		f.mu.Lock()
		delete(f.running, g)
		f.mu.Unlock()
		f.end(finished, all-finished)
	}()
}

// wait returns when over is true or ctx ends. f is locked.
func (f *Finisher) wait(ctx context.Context, over func() bool) error {
	defer context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended.Broadcast()
	})()
	for !over() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.ended.Wait()
	}
	return nil
}

// Flush finishes what is held, and returns when that is done or ctx ends.
func (f *Finisher) Flush(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.startAll()
	begun := slices.Collect(maps.Keys(f.running))
	return f.wait(ctx, func() bool {
		return !slices.ContainsFunc(begun, func(g *heldGroup) bool { return f.running[g] != nil })
	})
}

func (f *Finisher) startAll() {
	for _, g := range f.groups {
		f.start(g)
	}
}

// Close is Flush, also of transactions that are in progress. Those that begin later are finished in their calls. If ctx ends,
// the rest is left to workers.
func (f *Finisher) Close(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.startAll()
	err := f.wait(ctx, func() bool { return f.stats.Held == 0 })
	if err != nil {
		for _, cancel := range f.running {
			cancel()
		}
	}
	return err
}

// Stats returns the figures.
func (f *Finisher) Stats() types.FinisherStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stats
}

// open returns the drains whose last read is still to be done.
func (g *heldGroup) open() (open []*drain) {
	for _, h := range g.held {
		for _, d := range h.drains {
			if d.open {
				open = append(open, d)
			}
		}
	}
	return open
}

// finish finishes transactions, and returns how many. A failure leaves one to a worker.
func (g *heldGroup) finish(ctx context.Context, open []*drain) (finished int) {
	s := g.store
	var late calls.Unanswered
	tracked := calls.Track(ctx, &late)
	old := s.outdated(tracked, g.at.partition, open)
	for i, err := range s.drainAll(tracked, old) {
		if err != nil && ctx.Err() == nil {
			s.reportPending(ctx, old[i].primary, err)
		}
		old[i].after.failed = old[i].after.failed || err != nil || late.Any()
	}
	g.deleteRows(ctx)
	g.held = slices.DeleteFunc(g.held, func(h *heldTransaction) bool { return h.failed })
	s.each(len(g.held), func(i int) { s.endMessage(ctx, g.held[i].message) })
	return len(g.held)
}

// deleteRows deletes the outbox rows of all transactions that have not failed, in one transaction. One whose rows a worker has
// acquired fails.
func (g *heldGroup) deleteRows(ctx context.Context) {
	for {
		var rows []outboxRef
		var of []*heldTransaction
		for _, h := range g.held {
			if !h.failed {
				rows = append(rows, h.rows...)
				of = append(of, slices.Repeat([]*heldTransaction{h}, len(h.rows))...)
			}
		}
		if len(rows) == 0 {
			return
		}
		err := g.store.deleteRecords(ctx, rows)
		if err == nil || len(rows) == 1 && errors.Is(err, azerr.ErrNotFound) {
			return
		}
		var refused *types.BatchError
		if !errors.As(err, &refused) || refused.Index < 0 || errors.Is(err, azerr.ErrOutcomeUnknown) {
			for _, h := range g.held {
				h.failed = true
			}
			return
		}
		of[refused.Index].failed = true
	}
}

// outdated returns corrections for the drains whose primary has another version than the one that they have written, or may have. One
// request for 14 primaries, or for a page if they are on fewer pages.
func (s *Store) outdated(ctx context.Context, partition string, drains []*drain) (old []*drain) {
	sets := make([]*together, len(drains))
	for i, d := range drains {
		sets[i] = &together{names: []string{d.primary.Row}}
	}
	_, err := s.readTogether(ctx, place{s.own, partition, "PartitionKey,RowKey"}, sets, time.Time{})
	for i, d := range drains {
		etag := ""
		if err == nil && sets[i].rows[0] != nil {
			etag = sets[i].rows[0].ETag
		}
		if err != nil || etag != d.version {
			old = append(old, &drain{primary: d.primary, op: d.op, refs: d.refs, began: d.began, after: d.held})
		}
	}
	return old
}

// messageGroup is messages that may be put together: those of one partition, because an earlier version of a worker reads
// only that of the first operation.
type messageGroup struct {
	partitionOf
	hidden time.Duration
}

// outgoing is the message of one transaction.
type outgoing struct {
	types.OutboxMessage
	bytes int // of JSON
}

// maxMessage is more than most messages of a transaction, and far below the limit of a queue.
const maxMessage = 16 << 10 // bytes of JSON

// put puts a message together with others. It ends after the grace time, because others wait for it.
func (f *Finisher) put(ctx context.Context, s *Store, m types.OutboxMessage, hidden time.Duration) (*sentMessage, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	key := messageGroup{partitionOf{s.owner, m.Partition}, hidden}
	return f.messages.Call(ctx, key, outgoing{m, len(text)}, fit, func(ctx context.Context, all []outgoing) (*sentMessage, error) {
		ctx, cancel := context.WithTimeout(ctx, s.Grace)
		defer cancel()
		sent, err := putMessage(ctx, s, join(all), hidden)
		if err == nil {
			sent.open.Store(int32(len(all)))
		}
		return sent, err
	})
}

// fit reports whether there is room for the operations of all in one message.
func fit(all []outgoing) bool {
	ops, bytes := 0, 0
	for i := range all {
		ops, bytes = ops+1+len(all[i].Others), bytes+all[i].bytes
	}
	return ops <= maxOps && bytes <= maxMessage
}

// join returns a message that names all operations of some.
func join(all []outgoing) types.OutboxMessage {
	m := all[0].OutboxMessage
	m.Others = slices.Clone(m.Others)
	for i := range all[1:] {
		next := all[1+i].OutboxMessage
		others := next.Others
		next.Partition, next.Grace, next.Others = "", 0, nil
		m.Others = append(append(m.Others, next), others...)
	}
	return m
}
