package eventual

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
)

// Worker takes messages off a queue and gives them to handlers.
type Worker struct {
	queue  queue
	poison queue // without a client where there is none
	opts   Options
	tracer tracing.Tracer

	mu       sync.Mutex
	handlers map[string]handler
	chores   []chore
	err      error // of the registrations
	running  bool
	abort    func() // of the current Run
}

// handler is what a kind was registered with.
type handler struct {
	attempts int // 0: Options.MaxAttempts
	handle   func(context.Context, *delivery) error
}

// NewWorker makes a Worker for queue. It makes no request and starts nothing:
// register handlers with [Handle], then call [Worker.Run].
//
// Give it [Options.Poison]. A worker without one, as with nil options, has nowhere to
// put what it cannot handle: such messages stay on the queue for good.
func NewWorker(queueClient *azqueue.QueueClient, opts *Options) (*Worker, error) {
	if queueClient == nil {
		return nil, fmt.Errorf("new worker: queue: %w", patterns.ErrNil)
	}
	w := &Worker{queue: queue{queueClient}, handlers: map[string]handler{}}
	if opts != nil {
		w.opts = *opts
	}
	if err := w.opts.check(); err != nil {
		return nil, fmt.Errorf("new worker: %w", err)
	}
	if w.opts.Poison != nil && w.opts.Poison.URL() == queueClient.URL() {
		return nil, errors.New("new worker: Options.Poison: the worker's own queue")
	}
	w.poison = queue{w.opts.Poison}
	w.tracer = w.opts.Tracing.NewTracer("azpatterns/eventual", "")
	return w, nil
}

// Queue gives back the client that NewWorker took.
func (w *Worker) Queue() *azqueue.QueueClient { return w.queue.client }

// Create creates the queue, and the poison queue if there is one; those that exist
// are fine. One request each.
func (w *Worker) Create(ctx context.Context) error {
	if err := w.queue.create(ctx); err != nil || w.poison.client == nil {
		return err
	}
	return w.poison.create(ctx)
}

func (w *Worker) register(kind string, attempts int, handle func(context.Context, *delivery) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, taken := w.handlers[kind]
	switch {
	case w.running:
		w.err = errors.Join(w.err, fmt.Errorf("%w: %q registered while the worker runs", ErrBadKind, kind))
	case taken:
		w.err = errors.Join(w.err, fmt.Errorf("%w: %q has a handler", ErrBadKind, kind))
	default:
		w.handlers[kind] = handler{attempts, handle}
	}
}

// refuse keeps an error of a registration for Run.
func (w *Worker) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
}

// Run takes messages and handles them until ctx ends; then it takes no more, lets
// handlers finish for [Options.Grace], ends their contexts, waits for them, and
// returns nil. Messages whose handlers did not finish, or had not begun, are shown
// to other workers at once. Nothing of the worker goes on after Run has returned,
// so a handler that does not heed its context keeps Run from returning.
//
// Run fails at once where a registration was refused, where the worker is running
// already, and where the first request tells that the worker cannot work: no such
// queue, no permission. Later failures are logged, and tried again like an empty
// queue.
//
// Requests: one for each poll; a poll takes as many messages as there are handlers
// free, at most 32. For each job one to delete its message, one for each third of
// the visibility timeout that it takes longer, and one to read its payload and one
// to delete it where that is in a blob. A failed attempt costs one, a poison message
// two.
func (w *Worker) Run(ctx context.Context) error {
	poll, stop := context.WithCancel(ctx)
	defer stop()
	// Handlers and the requests for them outlive ctx, but not a hard stop.
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	if err := w.begin(func() { end(ErrStopped); stop() }); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	defer w.end()
	if w.poison.client == nil {
		w.opts.Logger.Warn("eventual: no poison queue: what cannot be handled stays on the queue")
	}

	var handlers, timers sync.WaitGroup
	for _, c := range w.chores {
		handlers.Go(func() { w.attend(poll, c) })
	}
	over := make(chan struct{})
	timers.Go(func() { w.harden(poll, over, end) })
	err := w.fetch(poll, work, &handlers, &timers)
	stop()
	handlers.Wait()
	close(over)
	timers.Wait()
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// harden ends the handlers' contexts when the grace time has passed, unless all is
// over before.
func (w *Worker) harden(poll context.Context, over <-chan struct{}, end context.CancelCauseFunc) {
	<-poll.Done() // sooner or later
	grace := time.NewTimer(w.opts.Grace)
	defer grace.Stop()
	select {
	case <-grace.C:
		end(ErrStopped)
	case <-over:
	}
}

// Abort stops a running worker hard, as if the grace time of [Options] had passed:
// the contexts of its handlers end with [ErrStopped]. It does not wait; Run returns
// when they have returned.
func (w *Worker) Abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abort != nil {
		w.abort()
	}
}

func (w *Worker) begin(abort func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return w.err
	case w.running:
		return errors.New("worker runs already")
	}
	w.running, w.abort = true, abort
	return nil
}

func (w *Worker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.abort = false, nil
}

// fetch polls the queue until ctx ends.
func (w *Worker) fetch(ctx, work context.Context, handlers, timers *sync.WaitGroup) error {
	slots := make(chan struct{}, w.opts.Parallel)
	pause := w.opts.PollMin
	for first := true; ; first = false {
		n := acquire(ctx, slots)
		if n == 0 {
			return nil
		}
		// A poll under way is not cut off by ctx: its messages would stay hidden.
		fetched := time.Now()
		ms, err := w.queue.get(work, n, w.opts.Visibility)
		for range n - len(ms) {
			<-slots
		}
		for i := range ms {
			handlers.Go(func() {
				defer func() { <-slots }()
				w.deliver(ctx, work, &ms[i], fetched, timers)
			})
		}
		if err != nil && ctx.Err() == nil {
			if first && refused(err) {
				return err
			}
			w.opts.Logger.Error("eventual: queue not read", "error", err)
		}
		if len(ms) > 0 {
			pause = w.opts.PollMin
			continue
		}
		if sleep(ctx, around(pause, 0.25)) != nil {
			return nil
		}
		pause = min(2*pause, w.opts.PollMax)
	}
}

// acquire waits for a free slot, takes as many as there are, up to what one poll can
// use, and tells how many; 0 when ctx has ended.
func acquire(ctx context.Context, slots chan struct{}) int {
	if ctx.Err() != nil {
		return 0
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	n := 1
	for ; n < maxFetch; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
