package eventual

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// chore is a task that comes round.
type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// Every lets the worker call do again and again while it runs: the first time after
// a random part of the interval, so that workers that start together do not all do
// it together, and then the interval after each end. Errors and panics are logged.
// The context ends with that of [Worker.Run]. Every worker that registers a task
// does it; it has to bear that. Tasks are registered before Run, which reports one
// that it cannot do.
//
// It is for what finds work that no message tells of: a Store's Sweep, [SweepClaims].
func Every(w *Worker, name string, interval time.Duration, do func(context.Context) error) {
	if interval <= 0 || do == nil {
		w.refuse(fmt.Errorf("every: %q: interval or function: %w", name, patterns.ErrNil))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running {
		w.err = errors.Join(w.err, fmt.Errorf("every: %q registered while the worker runs", name))
		return
	}
	w.chores = append(w.chores, chore{name, interval, do})
}

// attend does the chore until ctx ends.
func (w *Worker) attend(ctx context.Context, c chore) {
	for next := rand.N(c.every) + 1; sleep(ctx, next) == nil; next = c.every {
		if err := safely(ctx, c.do); err != nil && ctx.Err() == nil {
			w.opts.Logger.Error("eventual: task failed", "task", c.name, "error", err)
		}
	}
}

// safely calls do and makes an error of its panic.
func safely(ctx context.Context, do func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return do(ctx)
}
