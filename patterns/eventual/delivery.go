package eventual

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
)

// delivery is one message in one worker, from the fetch to its end.
type delivery struct {
	w       *Worker
	m       *message
	env     envelope
	body    []byte
	attempt int
	limit   int // of attempts
	fetched time.Time
	base    context.Context // outlives the worker's stop
}

// endTime bounds a request that ends a delivery: a worker has to be able to stop.
const endTime = 30 * time.Second

// end makes a request that ends the delivery.
func (d *delivery) end(request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(d.base, endTime)
	defer cancel()
	return request(ctx)
}

// deliver handles one message, and sees to what becomes of it.
func (w *Worker) deliver(poll, work context.Context, m *message, fetched time.Time, timers *sync.WaitGroup) {
	d := &delivery{w: w, m: m, fetched: fetched, base: context.WithoutCancel(work)}
	unread := d.open()
	if poll.Err() != nil {
		d.release(ErrStopped)
		return
	}
	h := w.handlers[d.env.Kind]
	if d.limit = h.attempts; d.limit == 0 {
		d.limit = w.opts.MaxAttempts
	}
	switch {
	case unread != nil:
		d.bury(unread)
		return
	case d.spent():
		d.bury(fmt.Errorf("no outcome after %d deliveries", d.attempt-1))
		return
	case h.handle == nil:
		d.bury(fmt.Errorf("no handler for kind %q", d.env.Kind))
		return
	}

	ctx, lose := context.WithCancelCause(work)
	defer lose(nil)
	held := &hold{queue: w.queue, every: w.opts.Visibility, log: w.opts.Logger, lose: lose, ctx: d.base, timers: timers, m: m}
	held.keep(fetched)
	err := errGoexit
	defer func() { // also when the handler ends the goroutine
		lost := held.stop()
		d.settle(ctx, err, lost)
	}()
	err = d.attempted(ctx, h.handle)
}

// spent reports whether the message has had all its attempts. Without a poison queue it
// gets one more with every second delivery: with every delivery, one that kills its
// worker would kill the next at once.
func (d *delivery) spent() bool {
	over := d.attempt - d.limit
	return over > 0 && (d.w.poison.client != nil || over%2 == 1)
}

// open reads the envelope, but not a payload in a blob.
func (d *delivery) open() error {
	var err error
	if d.env, err = parse(d.m.text); err == errNotOurs {
		err = d.openOther()
	}
	if err != nil {
		d.env, d.body = envelope{ID: d.m.id, Kind: Raw}, nil
	}
	d.attempt = int(max(d.m.count-d.env.Free, 1))
	if d.body == nil {
		d.body = d.env.Body
	}
	return err
}

// openOther reads a message that Enqueue did not write.
func (d *delivery) openOther() (err error) {
	d.env = envelope{ID: d.m.id, Kind: Raw, At: d.m.inserted, Text: &d.m.text}
	d.body = Text(d.m.text)
	if d.w.opts.Decode == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Options.Decode: %w", &PanicError{v, debug.Stack()})
		}
	}()
	d.env.Kind, d.body, err = d.w.opts.Decode(d.m.text)
	if err == nil && d.env.Kind == "" {
		err = fmt.Errorf("%w: empty", ErrBadKind)
	}
	if err != nil {
		return fmt.Errorf("Options.Decode: %w", err)
	}
	return nil
}

// attempted runs the handler.
func (d *delivery) attempted(ctx context.Context, handle func(context.Context, *delivery) error) (err error) {
	ctx, span := d.w.tracer.Start(ctx, "job "+d.env.Kind, &tracing.SpanOptions{
		Kind: tracing.SpanKindConsumer,
		Attributes: []tracing.Attribute{
			{Key: "azpatterns.job.id", Value: d.env.ID},
			{Key: "azpatterns.job.attempt", Value: int64(d.attempt)},
		},
	})
	defer span.End()
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
		if err != nil {
			span.SetStatus(tracing.SpanStatusError, err.Error())
		}
	}()
	if d.env.Claim != nil {
		if d.w.opts.Container == nil {
			return errors.New("claim check: worker has no Options.Container")
		}
		if d.body, err = redeem(ctx, d.w.opts.Container, d.env.Claim); err != nil {
			if errors.Is(err, ErrClaimGone) || errors.Is(err, ErrClaimDamaged) {
				err = Cancel(err)
			}
			return err
		}
	}
	if err = handle(ctx, d); err != nil {
		_, _ = err.Error(), errors.Is(err, errGoexit) // a nil pointer in it panics here, where that is an error
	}
	return err
}

// settle does what the end of an attempt asks for.
func (d *delivery) settle(ctx context.Context, err error, lost bool) {
	var sn *snooze
	var ca *cancelled
	switch {
	case lost:
		d.report(Lost, err)
	case err == nil:
		d.finish()
	case errors.As(err, &sn):
		d.show(Snoozed, sn.after, true, err)
	case errors.As(err, &ca):
		d.bury(ca.err)
	case errors.Is(context.Cause(ctx), ErrStopped):
		d.release(err)
	case d.attempt >= d.limit:
		d.bury(err)
	default:
		d.show(Retrying, d.w.opts.Backoff(d.attempt), false, err)
	}
}

// finish deletes the message, and then the payload that nobody else refers to: the
// other order could leave a message without its payload.
func (d *delivery) finish() {
	err := d.remove()
	switch {
	case err == nil:
		d.dropClaim(d.env.Claim)
	case hasCode(err, "MessageNotFound"):
		// Deleted by this very request, whose reply was lost, or by another worker. As
		// some texts have it, one that another worker holds may answer so too, so the
		// payload stays.
	default:
		d.failed("message not deleted, it comes again", err)
		d.report(Lost, nil)
		return
	}
	d.report(Done, nil)
}

func (d *delivery) remove() error {
	return d.end(func(ctx context.Context) error { return d.w.queue.remove(ctx, d.m.id, d.m.receipt) })
}

func (d *delivery) dropClaim(cl *claim) {
	if cl == nil || d.w.opts.Container == nil {
		return
	}
	err := d.end(func(ctx context.Context) error { return discard(ctx, d.w.opts.Container, cl) })
	if err != nil {
		d.failed("payload not deleted", err)
	}
}

// show lets the message appear again after some time. A free one is not counted as
// an attempt.
func (d *delivery) show(o Outcome, after time.Duration, free bool, cause error) {
	text := d.m.text
	if free && d.env.Version > 0 { // one that Enqueue wrote
		e := d.env
		e.Free++
		if t, err := e.encode(); err == nil && len(t) <= maxText {
			text = t
		}
	}
	err := d.end(func(ctx context.Context) error {
		return d.w.queue.update(ctx, d.m, text, min(after, maxHide))
	})
	if err != nil {
		d.failed("message not given back, it comes again when its visibility timeout ends", err)
		if errors.Is(err, errTaken) {
			o = Lost
		}
	}
	d.report(o, cause)
}

// release gives the message back at once.
func (d *delivery) release(cause error) { d.show(Released, 0, true, cause) }

// failed logs a request that was to end the delivery. That another worker has taken
// the message over is no failure.
func (d *delivery) failed(what string, err error) {
	log := d.w.opts.Logger.Error
	if errors.Is(err, errTaken) {
		log = d.w.opts.Logger.Info
	}
	log("eventual: "+what, "kind", d.env.Kind, "id", d.env.ID, "attempt", d.attempt, "error", err)
}

// report tells how the delivery ended.
func (d *delivery) report(o Outcome, err error) {
	e := Event{Outcome: o, Kind: d.env.Kind, ID: d.env.ID, Attempt: d.attempt, Took: time.Since(d.fetched), Err: err}
	log := d.w.opts.Logger.Debug
	switch o {
	case Retrying:
		log = d.w.opts.Logger.Warn
	case Poisoned, Parked:
		log = d.w.opts.Logger.Error
	}
	attrs := []any{"outcome", o.String(), "kind", e.Kind, "id", e.ID, "attempt", e.Attempt, "took", e.Took}
	if err != nil {
		attrs = append(attrs, "error", err)
	}
	log("eventual: job", attrs...)
	d.w.opts.Observe(e)
}
