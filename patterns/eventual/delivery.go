package eventual

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// delivery is one message that a worker received, until the worker is done with it.
type delivery struct {
	w           *Worker
	m           *message
	env         envelope
	body        []byte
	attempt     int
	tries       int
	received    time.Time
	scope       *scope
	payloadETag string // of the blob that was read
	redeliver   error  // why the host has to deliver its message again; nil if it may delete it
}

// scope are the contexts of deliveries, which end one after the other when the worker stops.
type scope struct {
	poll   context.Context // of polls: no handler starts after its end
	work   context.Context // of handlers
	last   context.Context // of the requests that end deliveries
	timers *sync.WaitGroup // counts timers that are set or running; not used for the message of a host
}

// finalTimeout bounds each request that ends a delivery.
const finalTimeout = 30 * time.Second

// final makes a request that ends the delivery.
func (d *delivery) final(request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(d.scope.last, finalTimeout)
	defer cancel()
	return request(ctx)
}

// process handles one message and decides its outcome. If s.poll has ended, or the message
// is visible again, it releases the message without calling the handler. If the message is a
// host's, process returns why the host has to deliver it again.
func (w *Worker) process(s *scope, m *message) error {
	d, unreadable := w.open(s, m)
	switch {
	case s.poll.Err() != nil:
		d.release(ErrStopped)
	case m.overdue(): // the process was suspended since the poll
		d.release(ErrLeaseLost)
	default:
		d.run(unreadable)
	}
	return d.redeliver
}

// run calls the handler and ends the delivery. unreadable is the error of decoding the message.
func (d *delivery) run(unreadable error) {
	w := d.w
	h := w.handler(d.env.Kind)
	if d.tries = h.tries; d.tries == 0 {
		d.tries = w.opts.Tries
	}
	switch {
	case unreadable != nil:
		d.moveToPoison(unreadable)
		return
	case d.exhausted():
		d.moveToPoison(azerr.Errorf("no outcome after %d deliveries", d.attempt-1))
		return
	case h.handle == nil:
		d.moveToPoison(azerr.Errorf("no handler for kind %q", d.env.Kind))
		return
	}

	ctx, cancel := context.WithCancelCause(d.scope.work)
	defer cancel(nil)
	lost := func() bool { return false }
	if !d.m.hosted {
		l := &messageLease{queue: w.queue, visibility: w.opts.Visibility, log: w.opts.Logger, cancel: cancel, ctx: d.scope.last, timers: d.scope.timers, m: d.m}
		l.start()
		lost = l.stop
	}
	err := errGoexit
	defer func() { d.complete(ctx, err, lost()) }() // also runs if the handler calls runtime.Goexit
	err = d.call(ctx, h.handle)
}

// open begins the delivery of a message. The error is that of decoding it.
func (w *Worker) open(s *scope, m *message) (*delivery, error) {
	d := &delivery{w: w, m: m, received: m.hidden, scope: s}
	return d, d.open()
}

// release makes a message that was not started visible to other workers.
func (w *Worker) release(s *scope, m *message, cause error) {
	d, _ := w.open(s, m)
	d.release(cause)
}

// errBusy is why a message was released that no handler could start in time.
var errBusy = azerr.Sentinel("no handler became free")

// exhausted reports whether the message has used all its attempts. Without a poison queue
// only every second further delivery is an attempt, so that a message that kills its worker
// does not kill the next worker immediately.
func (d *delivery) exhausted() bool {
	excess := d.attempt - d.tries
	return excess > 0 && (d.w.poison.client != nil || excess%2 == 1)
}

// open decodes the message. It does not load a payload from a blob.
func (d *delivery) open() error {
	var err error
	if d.env, err = d.w.queue.parse(d.m.text); err == errForeign {
		d.env, err = envelope{Kind: Raw, At: d.m.inserted, Text: &d.m.text}, nil
	}
	if err == nil && d.env.Text != nil { // also of a copy in a poison queue
		err = d.openForeign()
	}
	if err == nil && d.env.Claim != nil && d.env.Claim.Size > d.w.opts.MaxPayload {
		err = azerr.Errorf("%w: its payload is larger than Options.MaxPayload", ErrBadMessage)
	}
	if err != nil {
		d.env, d.body = envelope{Kind: Raw}, nil
	}
	d.env.ID = cmp.Or(d.env.ID, d.m.id)
	d.attempt = int(min(max(d.m.deliveries-d.env.Free, 1), math.MaxInt32))
	if d.body == nil {
		d.body = d.env.Body
	}
	return err
}

// openForeign decodes a message that Enqueue did not write.
func (d *delivery) openForeign() error {
	d.body = Text(*d.env.Text)
	if d.w.opts.Decode == nil {
		return nil
	}
	if err := d.decodeForeign(); err != nil {
		return azerr.Errorf("Options.Decode: %w", d.w.seal(err))
	}
	return nil
}

func (d *delivery) decodeForeign() (err error) {
	defer recoverPanic(&err)
	d.env.Kind, d.body, err = d.w.opts.Decode(*d.env.Text)
	if err == nil {
		err = checkCharacters(d.env.Kind)
	}
	return err
}

// call loads the payload and calls the handler.
func (d *delivery) call(ctx context.Context, handle func(context.Context, *delivery) error) (err error) {
	ctx, span := d.begin(ctx)
	defer span.End()
	defer func() {
		if err != nil && !postponed(err) {
			failSpan(span, err)
		}
	}()
	defer func() { err = d.w.seal(err) }()
	defer recoverPanic(&err)
	if err := d.loadPayload(ctx); err != nil {
		return err
	}
	if err = handle(ctx, d); err != nil {
		_, _ = d.w.seal(err).Error(), errors.Is(err, errGoexit) // an error that is a nil pointer panics here, where panics are recovered
	}
	return err
}

var errNoContainer = azerr.Sentinel("claim check: worker has no Options.Container")

// loadPayload reads the payload if it is in a blob.
func (d *delivery) loadPayload(ctx context.Context) (err error) {
	switch {
	case d.env.Claim == nil:
		return nil
	case d.w.opts.Container == nil:
		return errNoContainer
	}
	d.body, d.payloadETag, err = loadPayload(ctx, d.w.opts.Container, d.env.Claim)
	if errors.Is(err, ErrClaimGone) || errors.Is(err, ErrClaimDamaged) {
		return Cancel("", err)
	}
	return err
}

// complete ends the delivery according to the result of the attempt.
func (d *delivery) complete(ctx context.Context, err error, leaseLost bool) {
	var late *lateCheckError
	var snoozed *snoozeError
	var cancelled *cancelError
	switch {
	case leaseLost:
		d.report(Lost, err)
	case err == nil:
		d.succeed()
	case errors.As(err, &late):
		d.moveToLateChecks(late.after, err)
	case errors.As(err, &snoozed):
		d.postpone(Snoozed, snoozed.after, true, err)
	case errors.As(err, &cancelled):
		reason := cancelled.err
		if cancelled.reason != "" {
			reason = cancelled
		}
		d.moveToPoison(d.w.seal(reason))
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrLeaseLost):
		d.release(err)
	case d.attempt >= d.tries:
		d.moveToPoison(err)
	default:
		d.postpone(Retrying, d.w.opts.Backoff(d.attempt), false, err)
	}
}

// succeed deletes the message and then its payload, to which no other message refers.
// The opposite order could leave a message without its payload.
func (d *delivery) succeed() {
	err := d.delete()
	switch {
	case err == nil:
		d.deletePayload()
	case hasCode(err, "MessageNotFound"):
		// An earlier try of this request deleted the message, or another worker did. Some
		// documentation describes this error also for a message that another worker has
		// leased, so the payload is kept.
	default:
		d.logFailure("message not deleted, it will be delivered again", err)
		d.report(Lost, nil)
		return
	}
	d.report(Done, nil)
}

func (d *delivery) delete() error {
	if d.m.hosted {
		return nil // the host does, after the delivery
	}
	return d.final(func(ctx context.Context) error { return d.w.queue.delete(ctx, d.m.id, d.m.popReceipt) })
}

// hold makes sure that no other worker has received the message. It makes a request only
// if the lease is over, for example because the process was suspended.
func (d *delivery) hold() error {
	if !d.m.overdue() {
		return nil
	}
	return d.final(func(ctx context.Context) error {
		return d.w.queue.update(ctx, d.m, d.m.text, d.w.opts.Visibility)
	})
}

func (d *delivery) deletePayload() {
	if d.payloadETag == "" || d.m.hosted { // the host's message still refers to it
		return
	}
	err := d.final(func(ctx context.Context) error {
		return deletePayload(ctx, d.w.opts.Container, d.env.Claim.Name, d.payloadETag)
	})
	if err != nil {
		d.logFailure("payload not deleted", err)
	}
}

// postpone makes the message visible again after some time. If free is set, the
// delivery does not count as an attempt.
func (d *delivery) postpone(o Outcome, after time.Duration, free bool, cause error) {
	if d.m.hosted {
		d.postponeHosted(o, after, cause)
		return
	}
	text := d.m.text
	if free && d.env.Version > 0 && !d.keepsSignature() { // a message that Enqueue wrote
		e := d.env
		e.Free++
		if t, err := e.encode(d.w.queue); err == nil && len(t) <= maxText {
			text = t
		}
	}
	err := d.final(func(ctx context.Context) error {
		return d.w.queue.update(ctx, d.m, text, min(after, maxVisibility))
	})
	if err != nil {
		d.logFailure("message not released, it becomes visible when its visibility timeout ends", err)
		if errors.Is(err, ErrLeaseLost) {
			o = Lost
		}
	}
	d.report(o, cause)
}

// keepsSignature reports whether the message has a signature that the worker could not replace.
func (d *delivery) keepsSignature() bool { return len(d.w.queue.keys) == 0 && isSigned(d.m.text) }

// release makes the message visible immediately.
func (d *delivery) release(cause error) { d.postpone(Released, 0, true, cause) }

// logFailure logs the failure of a request that should have ended the delivery. A lost
// lease is not an error of the worker.
func (d *delivery) logFailure(what string, err error) {
	log := d.w.opts.Logger.Error
	if errors.Is(err, ErrLeaseLost) {
		log = d.w.opts.Logger.Info
	}
	log("eventual: "+what, "kind", d.env.Kind, "id", d.env.ID, "attempt", d.attempt, "error", err)
}

// report logs the end of the delivery and passes it to Options.Observe.
func (d *delivery) report(o Outcome, err error) {
	e := Event{Outcome: o, Kind: d.env.Kind, ID: d.env.ID, Attempt: d.attempt, Took: time.Since(d.received), Err: err, received: d.received}
	level := slog.LevelDebug
	switch o {
	case Retrying:
		level = slog.LevelWarn
	case Poisoned, Parked:
		level = slog.LevelError
	}
	d.w.opts.Logger.LogAttrs(context.Background(), level, "eventual: job", e.LogValue().Group()...)
	d.w.opts.Observe(e)
}
