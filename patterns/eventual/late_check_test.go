package eventual_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// lateFixture is a fixture with a worker for late checks.
type lateFixture struct {
	*fixture
	late *fixture
}

// newLateFixture returns a fixture whose worker moves late checks to the queue of another
// worker.
func newLateFixture(t testing.TB, b *harness.Backend, change func(*eventual.Options)) *lateFixture {
	t.Helper()
	late := newFixture(t, b, change)
	return &lateFixture{newFixture(t, b, func(o *eventual.Options) {
		if change != nil {
			change(o)
		}
		o.LateChecks = late.queue
	}), late}
}

const (
	storeGrace  = time.Minute // the defaults of patterns.StoreOptions
	storeExpiry = time.Hour
	onePoll     = 15 * time.Second // the pause of infrequentPolls, plus the rounding of times
)

// newStore returns a store that is registered with both workers.
func (s *lateFixture) newStore(t testing.TB) *patterns.Store[member] {
	t.Helper()
	store := s.fixture.newStore(t, s.Table(t), "")
	eventual.HandleOutbox(s.late.worker, "", store)
	return store
}

// runFor runs the worker for a time.
func (s *fixture) runFor(t testing.TB, d time.Duration) {
	t.Helper()
	stop := s.start(t)
	time.Sleep(d)
	stop()
}

// wantFinished checks that the store contains the member with its copy, or neither, and no
// record of an operation.
func wantFinished(t testing.TB, store *patterns.Store[member]) {
	t.Helper()
	item, err := store.Get(t.Context(), keyKen)
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		t.Fatal(err)
	}
	wantCopy(t, store.Table(), item.Value.Email)
	assert.Equal(t, records(t, store), 0, "records are left behind")
}

// records returns the number of rows in the partition of the member, other than its own.
func records(t testing.TB, store *patterns.Store[member]) (n int) {
	t.Helper()
	for row, err := range store.Table().Query(t.Context(), inPartition(keyKen.Partition), nil) {
		assert.NoError(t, err)
		if row.Key != keyKen {
			n++
		}
	}
	return n
}

func TestWorkQueueIsEmptyOnePollAfterGraceWhereverTheWriterCrashes(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newLateFixture(t, b, infrequentPolls)
		store := s.newStore(t)
		assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), ken("old"))))
		began := time.Now()
		writer := func() {
			began = time.Now()
			_, _ = store.Update(t.Context(), keyKen, func(m *member) error { m.Email = "new"; return nil })
		}
		return scenario{writer, func() {
			if released(t, s.queue, store) {
				began = time.Now()
			}
			stop := s.start(t)
			time.Sleep(storeGrace + onePoll - min(time.Since(began), storeGrace))
			assert.Equal(t, count(t, s.queue), 0, "messages on the work queue")
			stop()
		}, func(string) {
			records, checks := records(t, store), count(t, s.late.queue)
			if records > checks {
				t.Errorf("%d records, %d late checks", records, checks)
			}
			assert.Equal(t, len(messages(t, s.late.queue)), 0, "late checks are visible before Expiry")
			s.late.runFor(t, storeExpiry+onePoll)
			if records == checks { // otherwise a duplicate message adds a record and another check
				wantEmpty(t, s.late.queue)
			}
			s.late.drain(t)()
			wantFinished(t, store)
			wantEmpty(t, s.poison)
			wantEmpty(t, s.late.poison)
		}}
	})
}

func TestLateCheckSurvivesEveryCrashOfTheWorkerThatMovesIt(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newLateFixture(t, b, infrequentPolls)
		store := s.newStore(t)
		b.Fault(crashBefore(4)...) // after put, reserve and transaction
		_, _ = store.Insert(t.Context(), ken("ken"))
		b.ClearFaults()
		time.Sleep(storeGrace)
		return scenario{s.process(t), func() {
			s.runFor(t, 2*time.Minute) // what the killed worker had received becomes visible
			wantEmpty(t, s.queue)
		}, func(killed string) {
			most := 1
			if strings.HasPrefix(killed, "after") && strings.HasSuffix(killed, "Queue.Put") ||
				strings.HasPrefix(killed, "before") && strings.HasSuffix(killed, "Queue.Delete") {
				most = 2 // copied, but not yet deleted
			}
			if n := count(t, s.late.queue); n < 1 || n > most {
				t.Errorf("%d late checks, want 1 to %d", n, most)
			}
			wantCopy(t, store.Table(), "ken")
			s.late.drain(t)()
			wantFinished(t, store)
		}}
	})
}

func TestLateCheckIsMovedToItsQueueWithTwoRequests(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newLateFixture(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = time.Minute, time.Minute })
		m := patterns.OutboxMessage{Partition: "p", ID: "op", Row: "r", Reserved: []patterns.RowRef{{View: "v", Partition: "x", Row: "y"}}}
		eventual.HandleOutbox(s.worker, "", &fakeDrainer{t: t, want: m, redeliveries: 1})
		assert.NoError(t, assert.ErrorOf(newOutbox(t, s.queue, "").Put(t.Context(), m, 0)))
		b.ResetRequests()
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
		requests := b.Requests()
		if len(requests.Only("Queue.Put")) != 1 || len(requests.Only("Queue.Delete")) != 1 || len(requests.Only("Queue.Update")) != 0 {
			t.Errorf("requests:\n%v", requests)
		}
		wantEmpty(t, s.queue)
		if n, visible := count(t, s.late.queue), len(messages(t, s.late.queue)); n != 1 || visible != 0 {
			t.Errorf("%d late checks, %d of them visible", n, visible)
		}
	})
}

// A late check that is delivered early, here because the worker's Drainer asks for it again,
// stays on its queue.
func TestLateCheckStaysOnItsQueueUntilItIsDone(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newLateFixture(t, b, infrequentPolls)
		m := patterns.OutboxMessage{Partition: "p", ID: "op", Row: "r", Reserved: []patterns.RowRef{{View: "v", Partition: "x", Row: "y"}}}
		drainer := &fakeDrainer{t: t, want: m, redeliveries: 3}
		eventual.HandleOutbox(s.worker, "", drainer)
		eventual.HandleOutbox(s.late.worker, "", drainer)
		assert.NoError(t, assert.ErrorOf(newOutbox(t, s.queue, "").Put(t.Context(), m, 0)))
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
		es := s.late.until(t, 3)
		wantOutcomes(t, es, eventual.Snoozed, eventual.Snoozed, eventual.Done)
		assert.Equal(t, es[2].ID, "op")
		assert.Equal(t, es[2].Attempt, 1)
		wantEmpty(t, s.queue)
		wantEmpty(t, s.late.queue)
	})
}

func TestLateCheckStaysOnTheWorkQueueIfItCannotBeMoved(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for name, rule := range map[string]storagetest.Rule{
			"refused":      storagetest.On("Queue.Put").Times(storagetest.Forever).Status(403, "AuthorizationFailure"),
			"no reply":     storagetest.On("Queue.Put").Times(storagetest.Forever).LoseReply(),
			"no such host": storagetest.On("Queue.Put").Times(storagetest.Forever).LoseRequest(),
		} {
			s := newLateFixture(t, b, infrequentPolls)
			store := s.newStore(t)
			b.Fault(crashBefore(4)...)
			_, _ = store.Insert(t.Context(), ken("ken"))
			b.ClearFaults()
			time.Sleep(storeGrace)
			b.Fault(rule)
			wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
			b.ClearFaults()
			if n, visible := count(t, s.queue), len(messages(t, s.queue)); n != 1 || visible != 0 {
				t.Errorf("%s: %d messages, %d of them visible", name, n, visible)
			}
			s.drain(t)()
			s.late.drain(t)()
			wantFinished(t, store)
		}
	})
}

func TestQueueForLateChecksIsCreatedWhenNeeded(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newLateFixture(t, b, nil)
		m := patterns.OutboxMessage{Partition: "p", ID: "op"}
		eventual.HandleOutbox(s.worker, "", always(time.Hour))
		assert.NoError(t, assert.ErrorOf(s.late.queue.Delete(t.Context(), nil)))
		time.Sleep(time.Minute) // until then the name cannot be used again
		assert.NoError(t, assert.ErrorOf(newOutbox(t, s.queue, "").Put(t.Context(), m, 0)))
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
		wantEmpty(t, s.queue)
		assert.Equal(t, count(t, s.late.queue), 1, "late checks")
	})
}

// always is a Drainer that leaves a late check for each message.
type always time.Duration

func (a always) Handle(context.Context, patterns.OutboxMessage) (time.Duration, error) {
	return time.Duration(a), nil
}

func TestOnlyLateChecksLeaveTheWorkQueue(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newLateFixture(t, b, infrequentPolls)
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error { return eventual.Snooze(time.Hour) })
		s.put(t, "letter", letter{}, nil)
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
		assert.Equal(t, count(t, s.queue), 1, "messages")
		wantEmpty(t, s.late.queue)
	})
}

func TestQueueForLateChecksMustBeAQueueOfItsOwn(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		work, poison := b.Queue(t), b.Queue(t)
		for _, late := range []*azqueue.QueueClient{work, poison} {
			assert.Failed(t, assert.ErrorOf(eventual.NewWorker(work, &eventual.Options{Poison: poison, LateChecks: late})), "no error")
		}
	})
}
