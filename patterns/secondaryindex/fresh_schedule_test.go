package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// holding is an operation on the entity that has one unique value.
type holding struct {
	Read bool
	ID   string // of the entity that a change is made to
	Has  bool   // the change assigns it the value; otherwise it takes the value away
}

// holder is the result: the entity that was read, "" for none, or whether the change was refused.
type holder struct {
	ID      string
	Refused bool
}

// holderModel has the id of the entity with the value as its state.
var holderModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		now, op, res := state.(string), input.(holding), output.(holder)
		switch {
		case op.Read:
			return res.ID == now, now
		case res.Refused:
			return true, now
		case op.Has:
			return now == "" || now == op.ID, op.ID
		case now == op.ID:
			return true, ""
		}
		return true, now
	},
}

// fresh is a schedule of writers, readers and a worker of one unique value.
type fresh struct {
	*harness.Schedule
	ctx    context.Context
	follow patterns.Follow
	queue  *harness.OutboxQueue

	mu  sync.Mutex
	ops []porcupine.Operation
}

var badges = secondaryindex.Inter("badge", nil, badgeOf, &secondaryindex.Options[employee]{Partition: func(string, string) string { return "badges" }})

func (f *fresh) store(p *harness.Process) (*patterns.Store[employee], error) {
	tables, err := p.Tables(true, 1)
	if err != nil {
		return nil, err
	}
	t, err := patterns.NewTable[employee](tables.NewClient("Employees"), nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(t, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{badges}, Outbox: f.queue, Follow: f.follow})
}

// record carries out an operation and records what it has learned.
func (f *fresh) record(op holding, do func() (holder, error)) {
	began := time.Now()
	res, err := do()
	if err != nil {
		f.Failf("%+v: %w", op, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops = append(f.ops, porcupine.Operation{Input: op, Output: res, Call: began.UnixNano(), Return: time.Now().UnixNano()})
}

// change changes one of two entities, or deletes it.
func (f *fresh) change(s *patterns.Store[employee], chance *rand.Rand) {
	e := newEmployee("Sales", fmt.Sprint(chance.IntN(2)), "Ann", "Jones", "")
	op := holding{ID: e.RowKey, Has: chance.IntN(3) > 0}
	if op.Has {
		e.Badge = "A"
	}
	f.record(op, func() (holder, error) {
		var err error
		if op.Has || chance.IntN(2) == 0 {
			_, err = s.Put(f.ctx, e)
		} else {
			err = s.Delete(f.ctx, e.key())
		}
		if errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrNotFound) || errors.As(err, new(*patterns.DuplicateError)) {
			return holder{Refused: true}, nil
		}
		return holder{}, err
	})
}

func (f *fresh) read(s *patterns.Store[employee]) {
	f.record(holding{Read: true}, func() (holder, error) {
		item, _, err := badges.On(s).GetFresh(f.ctx, "", "A", nil)
		if errors.Is(err, patterns.ErrNotFound) {
			return holder{}, nil
		}
		return holder{ID: item.Value.RowKey}, err
	})
}

// Two entities get a unique value and lose it, while others read it. All results have an order.
func TestGetFreshOfAUniqueIndexIsLinearizable(t *testing.T) {
	harness.Schedules(t, []string{"immediately", "later"}, 20, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.Faults = harness.Faults{Latency: 5 * time.Second}
		f := &fresh{Schedule: s, ctx: ctx, queue: &harness.OutboxQueue{}}
		if mode == "later" {
			f.follow = patterns.Later
		}
		reliable := assert.Must(f.store(s.Reliable()))(t)
		assert.NoError(t, reliable.Create(ctx))
		var clients, working sync.WaitGroup
		client := func(number int, do func(*patterns.Store[employee], *rand.Rand)) {
			store, err := f.store(s.Process(number))
			if err != nil {
				s.Failf("open: %w", err)
				return
			}
			chance := rand.New(rand.NewPCG(s.Seed, uint64(number)))
			clients.Go(func() {
				for range 5 {
					time.Sleep(time.Duration(chance.IntN(20)) * time.Second)
					do(store, chance)
				}
			})
		}
		for number := range 2 {
			client(number, f.change)
			client(10+number, func(s *patterns.Store[employee], _ *rand.Rand) { f.read(s) })
		}
		done := make(chan struct{})
		working.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Minute):
					if err := f.queue.Work(ctx, reliable.Handle); err != nil {
						s.Failf("worker: %w", err)
					}
				}
			}
		})
		clients.Wait()
		close(done)
		working.Wait()
		if !porcupine.CheckOperations(holderModel, f.ops) {
			s.Failf("the results have no order: %+v", f.ops)
		}
	})
}

// What Get returns before the copy is written is what the copy contains then, also in a slim index. Until the commit it finds nothing.
func TestGetFindsAnEntityFromItsCommitOn(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := &harness.OutboxQueue{}
		slim := secondaryindex.Inter("slim", nil, badgeOf, &secondaryindex.Options[employee]{Only: []string{"FirstName"}})
		opts := &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{badges, slim}, Outbox: queue, Follow: patterns.Later}
		client := b.Table(t)
		store := harness.NewStore(t, client, opts)
		ann := jones()
		ann.Badge = "A"
		assert.WantError(t, assert.ErrorOf(badges.On(store).Get(t.Context(), "", "A")), patterns.ErrNotFound)
		insert(t, store, ann)
		b.ResetRequests()
		full := assert.Must(badges.On(store).Get(t.Context(), "", "A"))(t)
		b.WantRequestCount(t, 2)
		part := assert.Must(slim.On(store).Get(t.Context(), ann.PartitionKey, "A"))(t)
		assert.NoError(t, queue.Work(t.Context(), store.Handle))
		written := assert.Must(badges.On(store).Get(t.Context(), "", "A"))(t)
		assert.Equal(t, full.Value, written.Value)
		assert.Equal(t, full.Primary, written.Primary)
		assert.Equal(t, part.Value, assert.Must(slim.On(store).Get(t.Context(), ann.PartitionKey, "A"))(t).Value)
		assert.Equal(t, part.Value.FirstName, ann.FirstName)
		assert.NoError(t, store.Delete(t.Context(), ann.key()))
		assert.NoError(t, queue.Work(t.Context(), store.Handle))
		assert.WantError(t, assert.ErrorOf(badges.On(store).Get(t.Context(), "", "A")), patterns.ErrNotFound)
	})
}

// A new entity is found before any worker has written its copy.
func TestGetFreshFindsAnEntityFromItsCommitOn(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := &harness.OutboxQueue{}
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{badges}, Outbox: queue, Follow: patterns.Later})
		ann := jones()
		ann.Badge = "A"
		insert(t, store, ann)
		r := badges.On(store)
		item, freshness, err := r.GetFresh(t.Context(), "", "A", nil)
		assert.NoError(t, err)
		assert.Equal(t, item.Value, *ann)
		assert.Equal(t, freshness, secondaryindex.Stale)
		entry := assert.Must(r.Get(t.Context(), "", "A"))(t)
		assert.Equal(t, entry.Value, *ann)
		assert.Equal(t, entry.Primary, ann.key())
		wantIDs(t, r.Query(t.Context(), "", secondaryindex.Prefix("").In("badges"), nil))
		assert.NoError(t, queue.Work(t.Context(), store.Handle))
		assert.Equal(t, assert.Must(r.Get(t.Context(), "", "A"))(t).Primary, ann.key())
	})
}
