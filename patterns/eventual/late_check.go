package eventual

import (
	"context"
	"time"
)

// lateCheckError ends a delivery of an outbox message whose work is done, except for the
// late check.
type lateCheckError struct{ snoozeError }

// moveToLateChecks moves the message to the queue for late checks: it adds the copy,
// invisible until the check is due, then deletes the original. After a crash in between
// the message is in both queues, and the duplicate is processed as any other. Two
// requests. Without that queue, or if it takes no copy, the original is hidden instead.
func (d *delivery) moveToLateChecks(after time.Duration, cause error) {
	if d.w.lateChecks.client == nil {
		d.postpone(Snoozed, after, true, cause)
		return
	}
	e := d.env
	e.Free = 0 // the deliveries of the copy are counted from 1
	text, err := e.encode(d.w.lateChecks)
	if err == nil {
		err = d.final(func(ctx context.Context) error {
			return putOrCreate(ctx, d.w.lateChecks, text, min(after, maxVisibility))
		})
	}
	if err != nil {
		d.logFailure("message not copied to the queue for late checks, it stays hidden on its own queue", err)
		d.postpone(Snoozed, after, true, cause)
		return
	}
	if err := d.delete(); err != nil {
		d.logFailure("message not deleted after it was copied to the queue for late checks", err)
	}
	d.report(Snoozed, cause)
}
