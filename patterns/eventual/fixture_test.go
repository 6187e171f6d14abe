package eventual_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// letter is the payload of most tests.
type letter struct {
	To   string
	Text string
}

var errFails = errors.New("no stamps left")

// fixture is a worker with its own queue and poison queue.
type fixture struct {
	*harness.Backend
	queue, poison *azqueue.QueueClient
	worker        *eventual.Worker
	events        chan ended
}

// ended is an Event and the time at which its delivery began.
type ended struct {
	eventual.Event
	began time.Time
}

// newFixture returns a worker that polls quickly. change may be nil.
func newFixture(t testing.TB, b *harness.Backend, change func(*eventual.Options)) *fixture {
	t.Helper()
	return newFixtureOn(t, b, b.Queue(t), b.Queue(t), change)
}

func newFixtureOn(t testing.TB, b *harness.Backend, queue, poison *azqueue.QueueClient, change func(*eventual.Options)) *fixture {
	t.Helper()
	s := &fixture{Backend: b, queue: queue, poison: poison, events: make(chan ended, 1000)}
	opts := &eventual.Options{
		Poison:  poison,
		PollMin: 2 * time.Millisecond,
		PollMax: 20 * time.Millisecond,
		Reason:  error.Error,
		Backoff: func(int) time.Duration { return 0 },
		Observe: func(e eventual.Event) { s.events <- ended{e, eventual.Received(e)} },
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
func (s *fixture) start(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.worker.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			assert.Equal(t, <-ended, nil)
		})
	}
	t.Cleanup(stop)
	return stop
}

// until runs the worker until n deliveries have ended.
func (s *fixture) until(t testing.TB, n int) []eventual.Event {
	t.Helper()
	stop := s.start(t)
	es := s.next(t, n)
	stop()
	return es
}

// next waits until n deliveries have ended, and returns them in the order in which they
// began: a message can be delivered again before the end of the first delivery is reported.
func (s *fixture) next(t testing.TB, n int) []eventual.Event {
	t.Helper()
	var all []ended
	timeout := time.Minute
	if s.InProcess() {
		timeout = 1000 * time.Hour // virtual time, if the test uses inVirtualTime
	}
	deadline := time.After(timeout)
	for len(all) < n {
		select {
		case e := <-s.events:
			all = append(all, e)
		case <-deadline:
			t.Fatalf("%d deliveries of %d after %v: %v", len(all), n, timeout, all)
		}
	}
	slices.SortStableFunc(all, func(a, b ended) int { return a.began.Compare(b.began) })
	es := make([]eventual.Event, n)
	for i, e := range all {
		es[i] = e.Event
	}
	return es
}

func (s *fixture) put(t testing.TB, kind string, msg any, opts *eventual.EnqueueOptions) {
	t.Helper()
	assert.NoError(t, eventual.Enqueue(t.Context(), s.queue, kind, msg, opts))
}

// wantOutcomes checks the outcomes of deliveries, in order.
func wantOutcomes(t testing.TB, es []eventual.Event, want ...eventual.Outcome) {
	t.Helper()
	assert.Equal(assert.Now(t), len(es), len(want), "deliveries", es)
	for i, o := range want {
		assert.Equal(t, es[i].Outcome, o, "delivery", i, es[i].Err)
	}
}

// wantEmpty checks that the queue contains no message, visible or not.
func wantEmpty(t testing.TB, q *azqueue.QueueClient) {
	t.Helper()
	assert.Equal(t, count(t, q), 0, "messages remain")
}

// count returns the number of messages in a queue, visible or not. It is exact on both
// accounts.
func count(t testing.TB, q *azqueue.QueueClient) int {
	t.Helper()
	p := assert.Must(q.GetProperties(context.Background(), nil))(t)
	return int(*p.ApproximateMessagesCount)
}

// messages returns the visible messages of a queue.
func messages(t testing.TB, q *azqueue.QueueClient) []*azqueue.PeekedMessage {
	t.Helper()
	n := int32(32)
	resp := assert.Must(q.PeekMessages(context.Background(), &azqueue.PeekMessagesOptions{NumberOfMessages: &n}))(t)
	return resp.Messages
}

// crashBefore and crashAfter simulate a process that dies before, or after, its n-th
// request is carried out: no further request reaches the service.
func crashBefore(n int) []storagetest.Rule {
	return []storagetest.Rule{storagetest.On("*").Nth(n).Times(storagetest.Forever).LoseRequest()}
}

func crashAfter(n int) []storagetest.Rule {
	return []storagetest.Rule{storagetest.On("*").Nth(n).LoseReply(), storagetest.On("*").Nth(n + 1).Times(storagetest.Forever).LoseRequest()}
}

func newQueueClient(t testing.TB) *azqueue.QueueClient {
	t.Helper()
	return storagetest.New(t).Queue("jobs")
}

// requestTimes returns when the requests of one operation were sent, relative to the
// first request of any kind.
func requestTimes(b *harness.Backend, op string) []time.Duration {
	var at []time.Duration
	all := b.Requests()
	for _, q := range all.Only(op) {
		at = append(at, q.Start.Sub(all[0].Start))
	}
	return at
}

// infrequentPolls limits the number of polls in hours of virtual time, and makes the
// order of requests deterministic.
func infrequentPolls(o *eventual.Options) {
	o.PollMin, o.PollMax = time.Second, 10*time.Second
	o.Parallel = 1
}

func (s *fixture) poisonQueue(t testing.TB) *eventual.PoisonQueue {
	t.Helper()
	p := assert.Must(s.worker.PoisonQueue())(t)
	return p
}

func peek(t testing.TB, p *eventual.PoisonQueue) []*eventual.PoisonMessage {
	t.Helper()
	dead := assert.Must(p.Peek(t.Context(), 32))(t)
	return dead
}

func takeAll(t testing.TB, p *eventual.PoisonQueue, each func(*eventual.PoisonMessage)) {
	t.Helper()
	for d, err := range p.Take(t.Context()) {
		assert.NoError(t, err)
		each(d)
	}
}
