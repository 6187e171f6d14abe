package outbox

import (
	"context"
	"encoding/json"
	"errors"
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
	messages calls.Shared[messageGroup, types.OutboxMessage, *sentMessage]

	mu      sync.Mutex // guards what follows, and drain.open of what is held
	closed  bool
	stopped bool // and nothing is held any more
	stats   types.FinisherStats
	groups  map[partitionOf]*heldGroup // that wait
	running map[*heldGroup]bool        // that are being finished
	ended   chan struct{}              // is closed when fewer are held
}

// NewFinisher returns a Finisher.
func NewFinisher(maxHeld int, maxAge, wait time.Duration) *Finisher {
	f := &Finisher{
		maxHeld: maxHeld, maxAge: maxAge,
		groups: map[partitionOf]*heldGroup{}, running: map[*heldGroup]bool{}, ended: make(chan struct{}),
	}
	f.messages.Wait = wait
	return f
}

// partitionOf is a partition of a Store, and of those within a partition of it.
type partitionOf struct {
	store     *ownership
	partition string
}

// heldGroup is transactions whose outbox rows are deleted together.
type heldGroup struct {
	at     partitionOf
	store  *Store
	held   []*heldTransaction
	rows   int // outbox rows
	timer  *time.Timer
	cancel context.CancelFunc
	done   chan struct{}
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

// before also does the open reads of primaries that the transaction is about to change: after it they would find another version.
func (f byFinisher) before(ctx context.Context, t *transaction, drains []*drain, failed *atomic.Bool) []func() error {
	steps := f.inCall.before(ctx, t, drains, failed)
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.groups[partitionOf{t.store.owner, t.partition()}]; g != nil {
		for _, d := range g.open() {
			if t.of(d.primary) != nil {
				steps = append(steps, func() error {
					if current, err := t.store.current(ctx, d); err == nil && current {
						f.mu.Lock()
						defer f.mu.Unlock()
						d.open = false
					}
					return nil
				})
			}
		}
	}
	return steps
}

func (f byFinisher) complete(ctx context.Context, t *transaction, st *state, drains []*drain, done *committed) error {
	if t.repairsRows() || !done.deletable() || !f.accept() {
		return f.inCall.complete(ctx, t, st, drains, done)
	}
	for _, d := range drains {
		d.deferred = true
	}
	if complete, _ := t.drain(ctx, st, drains, done); !complete {
		f.end(0, 1)
		return nil
	}
	f.hold(t.store, t.partition(), &heldTransaction{rows: done.outbox, drains: drains, message: st.message})
	return nil
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
	close(f.ended)
	f.ended = make(chan struct{})
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
		g = &heldGroup{at: at, store: s, done: make(chan struct{})}
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
	f.running[g] = true
	ctx, cancel := context.WithCancel(context.Background())
	if g.cancel = cancel; f.stopped {
		cancel()
	}
	open := g.open()
	go func() {
		defer cancel()
		finished := g.finish(ctx, open)
		f.mu.Lock()
		delete(f.running, g)
		f.mu.Unlock()
		close(g.done)
		f.end(finished, len(g.held)-finished)
	}()
}

// Flush finishes what is held, and returns when that is done or ctx ends.
func (f *Finisher) Flush(ctx context.Context) error {
	f.mu.Lock()
	for _, g := range f.groups {
		f.start(g)
	}
	var running []*heldGroup
	for g := range f.running {
		running = append(running, g)
	}
	f.mu.Unlock()
	for _, g := range running {
		select {
		case <-g.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close is Flush, also of transactions that are in progress. Those that begin later are finished in their calls. If ctx ends,
// the rest is left to workers.
func (f *Finisher) Close(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, g := range f.groups {
		f.start(g)
	}
	for f.stats.Held > 0 {
		ended := f.ended
		f.mu.Unlock()
		var err error
		select {
		case <-ended:
		case <-ctx.Done():
			err = ctx.Err()
		}
		f.mu.Lock()
		if err != nil {
			f.stopped = true
			for g := range f.running {
				g.cancel()
			}
			return err
		}
	}
	return nil
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
	if old := s.outdated(calls.Track(ctx, &late), g.at.partition, open); len(old) > 0 {
		errs := s.drainAll(calls.Track(ctx, &late), old)
		for _, h := range g.held {
			for _, d := range h.drains {
				i := slices.Index(old, d)
				if i >= 0 && errs[i] != nil {
					s.reportPending(ctx, d.primary, errs[i])
				}
				h.failed = h.failed || i >= 0 && (errs[i] != nil || late.Any())
			}
		}
	}
	g.deleteRows(ctx)
	s.each(len(g.held), func(i int) {
		if h := g.held[i]; !h.failed {
			s.endMessage(ctx, h.message)
		}
	})
	return len(slices.DeleteFunc(slices.Clone(g.held), func(h *heldTransaction) bool { return h.failed }))
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

// outdated returns the drains whose primary has another version than the one that they have written, or may have. One request for
// 14 primaries or more, and one for each that a page does not reach.
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
			d.forget()
			d.deferred, old = false, append(old, d)
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

// maxMessage is more than most messages of a transaction, and far below the limit of a queue.
const maxMessage = 16 << 10 // bytes of JSON

// put puts a message together with others.
func (f *Finisher) put(ctx context.Context, s *Store, m types.OutboxMessage, hidden time.Duration) (*sentMessage, error) {
	fits := func(all []types.OutboxMessage) bool {
		joined := join(all)
		text, err := json.Marshal(joined)
		return err == nil && len(text) <= maxMessage && len(joined.Others) < maxOps
	}
	return f.messages.Call(ctx, messageGroup{partitionOf{s.owner, m.Partition}, hidden}, m, fits, func(ctx context.Context, all []types.OutboxMessage) (*sentMessage, error) {
		sent, err := putMessage(ctx, s, join(all), hidden)
		if err == nil {
			sent.open.Store(int32(len(all)))
		}
		return sent, err
	})
}

// join returns a message that names all operations of some.
func join(all []types.OutboxMessage) types.OutboxMessage {
	m := all[0]
	m.Others = slices.Clone(m.Others)
	for _, next := range all[1:] {
		m.Others = append(m.Others, operations(next)...)
	}
	for i := range m.Others {
		m.Others[i].Partition = ""
	}
	return m
}
