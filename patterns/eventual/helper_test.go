package eventual_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// letter is the payload of most tests.
type letter struct {
	To   string
	Text string
}

var errFails = errors.New("no stamps left")

// bench is a worker on a queue and poison queue of its own.
type bench struct {
	*testbed.Backend
	queue, poison *azqueue.QueueClient
	worker        *eventual.Worker
	events        chan ended
}

// ended is an Event, and when its delivery began.
type ended struct {
	eventual.Event
	began time.Time
}

// newBench makes a worker that polls quickly. change may be nil.
func newBench(t testing.TB, b *testbed.Backend, change func(*eventual.Options)) *bench {
	t.Helper()
	return benchOn(t, b, b.Queue(t), b.Queue(t), change)
}

func benchOn(t testing.TB, b *testbed.Backend, queue, poison *azqueue.QueueClient, change func(*eventual.Options)) *bench {
	t.Helper()
	s := &bench{Backend: b, queue: queue, poison: poison, events: make(chan ended, 1000)}
	opts := &eventual.Options{
		Poison:  poison,
		PollMin: 2 * time.Millisecond,
		PollMax: 20 * time.Millisecond,
		Backoff: func(int) time.Duration { return 0 },
		Observe: func(e eventual.Event) { s.events <- ended{e, time.Now().Add(-e.Took)} },
	}
	if change != nil {
		change(opts)
	}
	var err error
	if s.worker, err = eventual.NewWorker(queue, opts); err != nil {
		t.Fatal(err)
	}
	return s
}

// start runs the worker until the function that it returns is called.
func (s *bench) start(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.worker.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// until runs the worker for n deliveries.
func (s *bench) until(t testing.TB, n int) []eventual.Event {
	t.Helper()
	stop := s.start(t)
	es := s.next(t, n)
	stop()
	return es
}

// next waits for the ends of n deliveries, and gives them in the order in which they
// began: a worker may have handled a message again before it tells of the time before.
func (s *bench) next(t testing.TB, n int) []eventual.Event {
	t.Helper()
	var all []ended
	patience := time.Minute
	if s.InProcess() {
		patience = 1000 * time.Hour // which may be virtual
	}
	deadline := time.After(patience)
	for len(all) < n {
		select {
		case e := <-s.events:
			all = append(all, e)
		case <-deadline:
			t.Fatalf("%d deliveries of %d after %v: %v", len(all), n, patience, all)
		}
	}
	slices.SortStableFunc(all, func(a, b ended) int { return a.began.Compare(b.began) })
	es := make([]eventual.Event, n)
	for i, e := range all {
		es[i] = e.Event
	}
	return es
}

func (s *bench) put(t testing.TB, kind string, msg any, opts *eventual.EnqueueOptions) {
	t.Helper()
	if err := eventual.Enqueue(t.Context(), s.queue, kind, msg, opts); err != nil {
		t.Fatal(err)
	}
}

// wantOutcomes checks the ends of deliveries, in order.
func wantOutcomes(t testing.TB, es []eventual.Event, want ...eventual.Outcome) {
	t.Helper()
	if len(es) != len(want) {
		t.Fatalf("%d deliveries, want %d: %v", len(es), len(want), es)
	}
	for i, o := range want {
		if es[i].Outcome != o {
			t.Errorf("delivery %d: %v (%v), want %v", i, es[i].Outcome, es[i].Err, o)
		}
	}
}

// wantEmpty checks that the queue holds nothing, hidden messages included.
func wantEmpty(t testing.TB, q *azqueue.QueueClient) {
	t.Helper()
	if n := count(t, q); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// count is the number of a queue's messages, hidden ones included: exact on both
// accounts.
func count(t testing.TB, q *azqueue.QueueClient) int {
	t.Helper()
	p, err := q.GetProperties(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return int(*p.ApproximateMessagesCount)
}

// messages looks at the messages of a queue that can be seen.
func messages(t testing.TB, q *azqueue.QueueClient) []*azqueue.PeekedMessage {
	t.Helper()
	n := int32(32)
	resp, err := q.PeekMessages(context.Background(), &azqueue.PeekMessagesOptions{NumberOfMessages: &n})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Messages
}

// wantRequests checks which requests were made since the last check, and that there
// were no others.
func wantRequests(t testing.TB, b *testbed.Backend, want map[string]int) {
	t.Helper()
	log := b.Requests()
	total := 0
	for op, n := range want {
		total += n
		if got := log.Count(op); got != n {
			t.Errorf("%d requests %s, want %d", got, op, n)
		}
	}
	if len(log) != total {
		t.Errorf("%d requests, want %d:\n%v", len(log), total, log)
	}
	b.ResetRequests()
}

// killedBefore and killedAfter are what a process does that ends just before, or
// just after, its n-th request is carried out: no request comes through any more.
func killedBefore(n int) []fault.Rule {
	return []fault.Rule{fault.On("*").Nth(n).Times(fault.Forever).LoseRequest()}
}

func killedAfter(n int) []fault.Rule {
	return []fault.Rule{fault.On("*").Nth(n).LoseReply(), fault.On("*").Nth(n + 1).Times(fault.Forever).LoseRequest()}
}

func mustQueue(t testing.TB) *azqueue.QueueClient {
	t.Helper()
	return storagetest.New(t).Queue("jobs")
}
