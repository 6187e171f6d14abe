package eventual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// Job is one attempt at what a message asks for.
type Job[M any] struct {
	// ID identifies the operation: EnqueueOptions.ID, or the message's id where
	// other code wrote it. It is the same in every delivery, and in duplicates.
	ID string

	// Kind is the one that the handler was registered for.
	Kind string

	// Message is the payload.
	Message M

	// Attempt is 1 at first. Every delivery counts, also one whose worker died or
	// whose reply was lost, but not those that ended in [Snooze] or were given back. Of
	// a message that other code wrote those count too: there is no place to note it.
	Attempt int

	// Enqueued is when the job was put on the queue.
	Enqueued time.Time
}

// Raw is the kind of messages that [Enqueue] did not write, unless
// [Options.Decode] says otherwise. A handler for string or []byte gets their text
// as [Text] reads it; one for another type gets it read as JSON.
const Raw = systemKinds + "raw"

// Handle registers the handler of a kind. All handlers are registered before
// [Worker.Run], which reports a kind that is malformed, reserved or taken as
// [ErrBadKind].
//
// A message may be handled more than once, at the same time or later, and messages
// come in no order: handlers must be ready for that. Returning nil deletes the
// message. An error, or a panic, leaves it for another attempt, after
// [Options.Backoff]; after [Options.MaxAttempts] of them it becomes a poison
// message. [Snooze] and [Cancel] are errors that say otherwise.
//
// The context ends when the message is lost to another worker ([ErrLost]) or the
// worker stops hard ([ErrStopped]); [context.Cause] tells which.
func Handle[M any](w *Worker, kind string, handler func(ctx context.Context, job Job[M]) error) {
	var err error
	if kind != Raw {
		err = checkKind(kind)
	}
	if err == nil && handler == nil {
		err = fmt.Errorf("%w: handler: %w", ErrBadKind, patterns.ErrNil)
	}
	if err != nil {
		w.refuse(err)
		return
	}
	w.register(kind, 0, func(ctx context.Context, d *delivery) error {
		job := Job[M]{ID: d.env.ID, Kind: kind, Attempt: d.attempt, Enqueued: d.env.At}
		if err := d.decode(&job.Message); err != nil {
			return Cancel(err)
		}
		return handler(ctx, job)
	})
}

// decode reads the payload into dst.
func (d *delivery) decode(dst any) error {
	if d.env.Text != nil {
		switch dst := dst.(type) {
		case *string:
			*dst = string(d.body)
			return nil
		case *[]byte:
			*dst = d.body
			return nil
		}
	}
	if err := json.Unmarshal(d.body, dst); err != nil {
		return fmt.Errorf("payload: %w", quietJSON(err))
	}
	return nil
}

// Snooze ends an attempt that was no failure: the message is shown again after d,
// rounded up to seconds and at most 7 days, and the attempt does not count; but see
// [Job.Attempt].
func Snooze(d time.Duration) error { return &snooze{d} }

type snooze struct{ after time.Duration }

func (s *snooze) Error() string { return fmt.Sprintf("snoozed for %v", s.after) }

// Cancel ends a job that no further attempt can mend: the message becomes a poison
// message at once, with err as its reason.
func Cancel(err error) error {
	if err == nil {
		err = errors.New("cancelled")
	}
	return &cancelled{err}
}

type cancelled struct{ err error }

func (c *cancelled) Error() string { return c.err.Error() }
func (c *cancelled) Unwrap() error { return c.err }

// PanicError is the failure of an attempt whose handler panicked.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine
}

func (p *PanicError) Error() string { return fmt.Sprintf("handler panicked: %v", p.Value) }

// Unwrap gives the error that was passed to panic, if it was one.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

var errGoexit = errors.New("handler ended its goroutine")
