package eventual

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// Job is one attempt to process a message.
type Job[M any] struct {
	// ID identifies the operation: EnqueueOptions.ID or, if Enqueue did not write the
	// message, the message's id. It is the same in all deliveries and in duplicates.
	ID string

	// Kind is the kind that the handler was registered for.
	Kind string

	// Message is the payload.
	Message M

	// Attempt counts from 1. Every delivery counts, including those whose worker died or
	// whose response was lost. Deliveries that ended with [Snooze] or because the worker
	// stopped do not count. In messages that Enqueue did not write they do, because the
	// correction cannot be stored there.
	Attempt int

	// Enqueued is the time of the Enqueue, by the clock of the process that called it.
	Enqueued time.Time
}

// Raw is the kind of messages that [Enqueue] did not write, unless [Options.Decode] is
// set. Its handler receives their text, decoded by [Text], if M is string or []byte;
// otherwise the text is decoded as JSON.
const Raw = reservedKinds + "raw"

// Handle registers the handler of a kind: see [Enqueue] and [Worker]. The kind may also be
// [Raw]. A malformed, reserved or duplicate kind and a nil handler are
// refused with [ErrBadKind].
//
// A message may be processed more than once, also concurrently, and messages arrive in
// no particular order. If the handler returns nil, the message is deleted. If it returns
// an error or panics, there is another attempt after [Options.Backoff]; after
// [Options.Tries] the message is moved to the poison queue. A handler can return
// [Snooze] or [Cancel] to decide otherwise.
//
// The handler's context ends if the lease of the message is lost ([ErrLeaseLost]) or if
// the worker stops and the grace time is over ([ErrStopped]); [context.Cause] returns the
// reason.
func Handle[M any](w *Worker, kind string, handle func(ctx context.Context, job Job[M]) error) {
	var err error
	if kind != Raw {
		err = checkKind(kind)
	}
	if err == nil && handle == nil {
		err = azerr.Errorf("%w: handler: %w", ErrBadKind, patterns.ErrNil)
	}
	w.handle(kind, err, handler{handle: func(ctx context.Context, d *delivery) error {
		job := Job[M]{ID: d.env.ID, Kind: kind, Attempt: d.attempt, Enqueued: d.env.At}
		if err := d.decode(&job.Message); err != nil {
			return Cancel("", err)
		}
		return handle(ctx, job)
	}})
}

// decode decodes the payload into dst.
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
		return azerr.Errorf("%w: payload: %w", ErrBadMessage, azerr.Seal(err))
	}
	return nil
}

// Snooze returns an error with which a handler postpones a job: the message becomes
// visible again after d, rounded up to seconds and at most 7 days. The attempt does not
// count, with the exception described at [Job.Attempt]. If the response to the request that
// postpones the job is lost, the request may hide the message again, for d from then on, until
// a worker has received it; after that it is refused.
func Snooze(d time.Duration) error { return &snoozeError{d} }

type snoozeError struct{ after time.Duration }

func (s *snoozeError) Error() string { return fmt.Sprintf("snoozed for %v", s.after) }

// Cancel returns an error with which a handler ends a job that further attempts cannot
// complete: the message is moved to the poison queue immediately. reason is what is always shown: in
// logs, events, spans and the poison queue. So it must not quote payloads and keys. If it is "", the text of err
// is shown as [Options.Reason] states, and "cancelled" if that is nil too. The error matches err.
func Cancel(reason string, err error) error {
	if reason == "" && err == nil {
		reason = "cancelled"
	}
	return &cancelError{reason, err}
}

type cancelError struct {
	reason string // "" if it is the text of err
	err    error
}

func (c *cancelError) Error() string { return cmp.Or(c.reason, azerr.Describe(c.err)) }
func (c *cancelError) Unwrap() error { return c.err }

// PanicError is the error of an attempt whose handler panicked.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine
}

// Error returns a text without the value: it contains the type, and what the worker would
// log of an error.
func (p *PanicError) Error() string {
	if err, ok := p.Value.(error); ok {
		return "handler panicked: " + azerr.Describe(err)
	}
	return fmt.Sprintf("handler panicked: value of type %T", p.Value)
}

// Format adds the value and the stack for %+v only.
func (p *PanicError) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "handler panicked: %+v\n%s", p.Value, p.Stack)
		return
	}
	io.WriteString(f, p.Error())
}

// LogValue omits from logs what only %+v prints.
func (p *PanicError) LogValue() slog.Value { return azerr.LogValue(p) }

// Unwrap returns Value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// recoverPanic, if deferred, stores a panic as a PanicError.
func recoverPanic(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{v, debug.Stack()}
	}
}

var errGoexit = azerr.Sentinel("handler ended its goroutine")
