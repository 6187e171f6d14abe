package eventual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
)

// periodicTask is a function that a worker calls repeatedly.
type periodicTask struct {
	name     string
	interval time.Duration
	do       func(context.Context) error
}

// Every registers a periodic task: see [Worker]. While the worker runs, it first calls do
// after a random part of the interval, so that workers that start together do not call it
// together. It calls do again each time the interval has passed since the last call
// returned. Errors and panics are logged. The context of a call ends with the context of
// [Worker.Run]. Every worker that registers a task executes it, possibly concurrently
// with others.
//
// Use it for work that is not started by a message, that [HandleSweep] does not do. If do is nil or
// the interval is not positive, Run returns an error.
func Every(w *Worker, name string, interval time.Duration, do func(context.Context) error) {
	w.register(func() error {
		switch {
		case do == nil:
			return fmt.Errorf("every: %q: function: %w", name, patterns.ErrNil)
		case interval <= 0:
			return fmt.Errorf("every: %q: interval is not positive", name)
		case w.running:
			return fmt.Errorf("every: %q registered while the worker runs", name)
		}
		w.tasks = append(w.tasks, periodicTask{name, interval, do})
		return nil
	})
}

// repeat executes the task until ctx ends.
func (w *Worker) repeat(ctx context.Context, t periodicTask) {
	for next := rand.N(t.interval) + 1; calls.Sleep(ctx, next) == nil; next = t.interval {
		if err := w.seal(t.run(ctx)); err != nil && ctx.Err() == nil {
			w.opts.Logger.Error("eventual: periodic task failed", "task", t.name, "error", err)
		}
	}
}

// run executes the task once, and returns a panic as an error.
func (t *periodicTask) run(ctx context.Context) (err error) {
	defer recoverPanic(&err)
	return t.do(ctx)
}

// Sweeper is what [HandleSweep] sweeps: a [patterns.Store], [Claims], or a table of the packages
// wideentity and largeentity. Workers may call Sweep concurrently.
type Sweeper interface {
	Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error)
}

// HandleSweep registers a periodic task, as [Every] does, that sweeps a store, for example.
// opts may be nil. With a Deadline each call continues where the one before it stopped, so it
// takes several intervals to sweep everything; a sweep that fails without getting further begins again.
// The report and all errors are logged.
//
// A sweep reads the whole table. That of a store is needed only if outbox messages were lost
// with their queue, so once a day is enough.
func HandleSweep(w *Worker, interval time.Duration, s Sweeper, opts *patterns.SweepOptions) {
	if s == nil {
		w.register(func() error { return fmt.Errorf("sweep: store: %w", patterns.ErrNil) })
		return
	}
	o := *cmp.Or(opts, &patterns.SweepOptions{})
	Every(w, "sweep", interval, func(ctx context.Context) error {
		report, err := s.Sweep(ctx, &o)
		if err != nil && report.Cursor == o.Cursor {
			report.Cursor = ""
		}
		o.Cursor = report.Cursor
		w.opts.Logger.Info("eventual: swept", "found", report.Found, "done", report.Done, "drained", report.Drained, "released", report.Released,
			"marked", report.Marked, "skipped", report.Skipped, "failed", report.Failed, "requests", report.Requests, "complete", err == nil && report.Cursor == "")
		for _, f := range report.Failures {
			err = errors.Join(err, f.Err)
		}
		return err
	})
}
