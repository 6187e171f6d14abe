package eventual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// Worker receives the messages of a queue and calls the handlers of their kinds. Create
// it with [NewWorker]. Its methods may be called concurrently.
//
// Handlers and periodic tasks are registered with [Handle], [HandleMove],
// [HandleMoveToBlob], [HandleOutbox], [HandleSweep] and [Every], all of them before
// [Worker.Run]. Like a transaction of package patterns, the Worker keeps the error of a
// registration: Run returns all of them, and processes nothing.
type Worker struct {
	queue  queue
	poison queue // without a client if there is no poison queue
	opts   Options
	tracer tracing.Tracer
	name   string // of the queue

	lateChecks queue // without a client if late checks stay on the worker's queue

	mu       sync.Mutex
	handlers map[string]handler // by kind
	tasks    []periodicTask
	err      error // of the registrations
	running  bool
	abort    func() // of the current Run
}

// handler processes the messages of one kind.
type handler struct {
	tries  int // 0 means Options.Tries
	handle func(context.Context, *delivery) error
}

// NewWorker returns a Worker for a queue. It makes no request and starts nothing. The memory
// for a reply is limited only if the clients were built with [patterns.LimitReplies].
//
// Set [Options.Poison]. Without a poison queue, as with nil options, messages that
// cannot be processed stay on the queue permanently.
func NewWorker(queueClient *azqueue.QueueClient, opts *Options) (*Worker, error) {
	if queueClient == nil {
		return nil, fmt.Errorf("new worker: queue: %w", patterns.ErrNil)
	}
	w := &Worker{handlers: map[string]handler{}, opts: *cmp.Or(opts, &Options{})}
	w.opts.SigningKeys = copyKeys(w.opts.SigningKeys)
	of := func(client *azqueue.QueueClient) queue { return queue{client, w.opts.SigningKeys} }
	w.queue, w.poison, w.lateChecks = of(queueClient), of(w.opts.Poison), of(w.opts.LateChecks)
	if err := w.opts.complete(); err != nil {
		return nil, fmt.Errorf("new worker: %w", err)
	}
	switch {
	case sameQueue(w.opts.Poison, queueClient):
		return nil, azerr.Errorf("new worker: %w: Options.Poison: the worker's own queue", azerr.ErrBadOption)
	case sameQueue(w.opts.LateChecks, queueClient):
		return nil, azerr.Errorf("new worker: %w: Options.LateChecks: the worker's own queue", azerr.ErrBadOption)
	case sameQueue(w.opts.LateChecks, w.opts.Poison):
		return nil, azerr.Errorf("new worker: %w: Options.LateChecks: the poison queue", azerr.ErrBadOption)
	}
	w.tracer, w.name = w.opts.Tracing.NewTracer(tracerName, ""), queueName(queueClient)
	return w, nil
}

// sameQueue reports whether both clients are for the same queue. nil is for none.
func sameQueue(a, b *azqueue.QueueClient) bool { return a != nil && b != nil && a.URL() == b.URL() }

// seal returns an error that matches err, which may be of a handler, with the text that may
// be logged.
func (w *Worker) seal(err error) error {
	if err == nil || w.opts.Reason == nil {
		return azerr.Seal(err)
	}
	if c := (*cancelError)(nil); errors.As(err, &c) && c.reason != "" {
		return azerr.SealAs(err, c.reason)
	}
	return azerr.SealAs(err, w.opts.Reason(err))
}

// check returns an error if NewWorker did not create w.
func (w *Worker) check() error {
	if w == nil || w.queue.client == nil {
		return fmt.Errorf("worker: %w", patterns.ErrNil)
	}
	return nil
}

// Queue returns the client that was passed to NewWorker.
func (w *Worker) Queue() *azqueue.QueueClient {
	if w == nil {
		return nil
	}
	return w.queue.client
}

// Create creates the queue and, if the worker has them, the poison queue and the queue for
// late checks, unless they exist. One request for each.
func (w *Worker) Create(ctx context.Context) error {
	if err := w.check(); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	for _, q := range []queue{w.queue, w.poison, w.lateChecks} {
		if q.client == nil {
			continue
		}
		if err := q.create(ctx); err != nil {
			return err
		}
	}
	return nil
}

// register calls add, which changes the worker, and stores its error for Run. If NewWorker
// did not create w, it does nothing, and Run returns an error.
func (w *Worker) register(add func() error) {
	if w.check() != nil {
		return
	}
	w.mu.Lock()
	err := add()
	w.err = errors.Join(w.err, err)
	running := w.running
	w.mu.Unlock()
	if err != nil && running { // Run also returns it, but only when it ends
		w.opts.Logger.Error("eventual: registration refused", "error", err)
	}
}

// handle registers the handler of a kind. err is the error found in the registration
// so far, or nil.
func (w *Worker) handle(kind string, err error, h handler) {
	w.register(func() error {
		_, exists := w.handlers[kind]
		switch {
		case err != nil:
			return err
		case w.running:
			return fmt.Errorf("%w: %q registered while the worker runs", ErrBadKind, kind)
		case exists:
			return fmt.Errorf("%w: %q has a handler", ErrBadKind, kind)
		}
		w.handlers[kind] = h
		return nil
	})
}

// handler returns the handler of a kind, or the zero value.
func (w *Worker) handler(kind string) handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.handlers[kind]
}

// Run receives messages and calls their handlers until ctx ends. It then receives no
// more, lets handlers finish for [Options.Grace], ends the contexts of those that still
// run, waits for them, and returns nil, within [Options.StopTimeout]. Messages whose handlers
// did not finish, or were not called, become visible to other workers immediately. Nothing of
// the worker runs after Run has returned, so a handler that ignores its context delays the
// return.
//
// Run returns an error immediately if a registration was refused, if the worker is
// running already, or if the response to the first request shows that the worker cannot
// work, for example because the queue does not exist or permission is missing. Later
// failures are logged; Run then polls again as after an empty response. Registrations
// refused while the worker runs are returned when Run ends.
//
// The worker receives more messages than it has free handlers if these are fast: as many as
// they are likely to start within a second. A message that is held longer than 5 seconds, or
// a third of the visibility timeout, is released for other workers.
//
// Requests: one for each poll, which receives at most 32 messages. A busy worker with fast
// handlers receives 16 or more with each, so it makes about 1.06 requests for each job that
// succeeds. One for each job, to delete its message, and one more for each third of the
// visibility timeout that it runs. If the payload is in a blob, one to read
// it and one to delete it. A failed attempt takes one request, the move to the poison
// queue or to the queue for late checks two.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.run(ctx); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

func (w *Worker) run(ctx context.Context) error {
	if err := w.check(); err != nil {
		return err
	}
	poll, stopPolling := context.WithCancel(ctx)
	defer stopPolling()
	// Handlers and their requests may continue after ctx has ended, until the grace time
	// is over.
	// The requests that end deliveries may take a little longer.
	last, stopAll := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopAll(nil)
	work, stopWork := context.WithCancelCause(last)
	defer stopWork(nil)
	if err := w.begin(func() { stopWork(ErrStopped); stopPolling() }); err != nil {
		return err
	}
	if w.poison.client == nil {
		w.opts.Logger.Warn("eventual: no poison queue: messages that cannot be processed stay on the queue")
	}

	var handlers, timers sync.WaitGroup
	for _, t := range w.tasks {
		handlers.Go(func() { w.repeat(poll, t) })
	}
	done := make(chan struct{})
	timers.Go(func() { w.stopInTime(poll, work, done, stopWork, stopAll) })
	err := w.poll(&scope{poll, work, last, &timers}, &handlers)
	stopPolling()
	handlers.Wait()
	close(done)
	timers.Wait()
	return errors.Join(err, w.end())
}

// stopInTime ends the handlers' contexts when poll has ended and the grace time has passed, and
// all requests when the rest of the stop timeout has passed too, unless all is done before.
func (w *Worker) stopInTime(poll, work context.Context, done <-chan struct{}, stopWork, stopAll context.CancelCauseFunc) {
	<-poll.Done()
	timer := time.NewTimer(w.opts.Grace)
	defer timer.Stop()
	select {
	case <-timer.C:
		stopWork(ErrStopped)
	case <-work.Done(): // by Abort
	case <-done:
		return
	}
	timer.Reset(w.opts.StopTimeout - w.opts.Grace)
	select {
	case <-timer.C:
		stopAll(ErrStopped)
	case <-done:
	}
}

// Abort stops a running worker without the grace time of [Options.Grace]: the contexts
// of its handlers end immediately, with [ErrStopped] as the cause. Abort does not wait;
// Run returns when the handlers have returned, and their messages are released or the rest of
// [Options.StopTimeout] has passed. It does nothing if the worker is not running.
func (w *Worker) Abort() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abort != nil {
		w.abort()
	}
}

// begin marks the worker as running.
func (w *Worker) begin(abort func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return w.err
	case w.running:
		return azerr.Errorf("worker is running already")
	}
	w.running, w.abort = true, abort
	return nil
}

// end marks the worker as not running, and returns the errors of registrations since
// begin.
func (w *Worker) end() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.abort = false, nil
	return w.err
}
