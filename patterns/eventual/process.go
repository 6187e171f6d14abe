package eventual

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
)

// Process handles one delivery of a message that a host has received from the worker's
// queue: Azure Functions, Dapr, or a job that receives messages itself. It calls the handler
// of the message's kind as [Worker.Run] would. If it returns nil, the host has to delete the
// message. If it returns an error, the host has to deliver the message again later, with the
// next number of its attempt:
//
//	attempt                               Process           host      outcome
//	succeeded                             nil               delete    Done
//	failed                                error             retry     Retrying
//	failed, the last one; Cancel          adds poison, nil  delete    Poisoned
//	cannot be read, no handler            adds poison, nil  delete    Poisoned
//	the same, without Options.Poison      error             retry     Retrying
//	Snooze, late check                    adds a copy, nil  delete    Snoozed
//	the context ended                     error             retry     Released
//	a copy was refused                    error             retry     Retrying
//
// Without [Options.Poison], a host with a poison queue of its own can move a message to it when
// the error matches [ErrBadMessage]. The context ends the attempt, for example at the deadline
// of the host; an attempt that it ended does not use up the last one. Requests that end the
// delivery then still have 30 seconds.
//
// text is the text of the message, as it is stored or decoded from base64. attempt is the
// DequeueCount of the host, counted from 1; a smaller number means 1. A host that does not
// count never reaches [Options.Tries].
//
// The host owns the message, and Process does not know its pop receipt. That makes these
// differences to Run:
//
//   - Process renews no lease. If the host does not either, its visibility timeout has to be
//     longer than a handler takes; otherwise the message is processed twice, and Process
//     cannot notice.
//   - A failed attempt is an error, and the host decides when the next one follows, instead
//     of [Options.Backoff]. If the attempts are exhausted, or the handler returned [Cancel],
//     Process adds a copy to [Options.Poison] and returns nil. Without a poison queue it
//     returns the error. A host that moves messages to a poison queue itself has to allow more
//     attempts than the worker: Tries, and 100 for [HandleOutbox]. In the host.json of
//     Azure Functions that is maxDequeueCount.
//   - For [Snooze], and for a late check of [HandleOutbox], Process adds a copy to the
//     worker's queue, or to [Options.LateChecks], that becomes visible later, and returns nil.
//     The copy keeps the number of the attempt, and never expires. If it cannot be added,
//     Process returns an error.
//   - If a payload is in a blob, Process leaves the blob to [Claims.Sweep], because the host
//     deletes the message only afterwards.
//   - [Job.ID] is empty in messages that [Enqueue] did not write, and
//     [patterns.OutboxMessage.Age] is unknown.
//
// If the process dies, or the host does not delete the message, it is delivered again, as
// with Run. [Options.Observe] and [Options.Logger] receive the outcome, in which Done,
// Snoozed and Poisoned mean that Process returned nil. A refused registration is returned
// before any request. Process may be called concurrently, also while the worker runs.
//
// Requests: none, one if the payload is in a blob, and one for each copy.
func (w *Worker) Process(ctx context.Context, text string, attempt int) error {
	err := w.registered()
	if err == nil {
		m := message{text: text, deliveries: int64(attempt), hosted: true, hidden: time.Now(), clock: new(calls.Clock)}
		err = w.process(&scope{poll: ctx, work: ctx, last: context.WithoutCancel(ctx)}, &m)
	}
	if err != nil {
		return azerr.Errorf("process: %w", err)
	}
	return nil
}

// registered returns the errors of the registrations so far.
func (w *Worker) registered() error {
	if err := w.check(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// postponeHosted is postpone for the message of a host: a copy that becomes visible later
// replaces a snoozed message, and the host delivers any other message again.
func (d *delivery) postponeHosted(o Outcome, after time.Duration, cause error) {
	if o == Snoozed {
		text, err := d.copyText()
		if err == nil {
			err = d.final(func(ctx context.Context) error {
				return d.w.queue.add(ctx, text, min(after, maxVisibility), 0)
			})
		}
		if err == nil {
			d.report(Snoozed, cause)
			return
		}
		d.logFailure("no copy of the message added, the host has to deliver it again", err)
		o, cause = Retrying, err
	}
	if o == Parked { // only the host can hide it
		o = Retrying
	}
	d.redeliver = cause
	d.report(o, cause)
}

// copyText returns the text of a copy whose first delivery has the number of this attempt.
func (d *delivery) copyText() (string, error) {
	if d.env.Version > 0 {
		e := d.env
		e.Free = 1 - int64(d.attempt)
		return e.encode(d.w.queue)
	}
	if strings.ContainsFunc(d.m.text, isControl) { // the host has decoded what was base64
		return base64.StdEncoding.EncodeToString([]byte(d.m.text)), nil
	}
	return d.m.text, nil
}

// isControl reports whether XML, and so a message, cannot contain the character.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
}
