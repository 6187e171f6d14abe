package eventual

import (
	"context"
	"encoding/base64"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// moveToPoison moves the message to the poison queue: it adds the copy, then deletes
// the original. After a crash in between the message is in both queues. Two requests,
// three if the lease of the message is over. Without a poison queue the message is hidden
// for as long as possible.
func (d *delivery) moveToPoison(reason error) {
	if d.w.poison.client == nil {
		d.postpone(Parked, maxVisibility, false, reason)
		return
	}
	if err := d.hold(); err != nil {
		d.logFailure("message not moved to the poison queue, another worker may have it", err)
		d.report(Lost, reason)
		return
	}
	err := d.putPoison(poisonTexts(d.w.poison, d.m, &d.env, d.attempt, reason))
	if err != nil {
		// The message stays on the queue. Its next delivery exceeds the number of attempts
		// and comes here again.
		d.logFailure("message not copied to the poison queue", err)
		d.postpone(Retrying, d.w.opts.Backoff(d.attempt), false, reason)
		return
	}
	if err := d.delete(); err != nil {
		d.logFailure("message not deleted after it was copied to the poison queue", err)
	}
	d.report(Poisoned, reason)
}

// putPoison adds the first of texts that fits into a message to the poison queue.
func (d *delivery) putPoison(texts []string) error {
	var err error
	for _, text := range texts {
		if len(text) > maxText {
			err = patterns.ErrTooLarge
			continue
		}
		err = d.final(func(ctx context.Context) error { return putOrCreate(ctx, d.w.poison, text, 0) })
		if !errors.Is(err, patterns.ErrTooLarge) {
			return err
		}
	}
	return err
}

// putOrCreate adds a message that becomes visible after delay, and creates the queue if it
// does not exist.
func putOrCreate(ctx context.Context, q queue, text string, delay time.Duration) error {
	err := q.add(ctx, text, delay, 0)
	if !hasCode(err, "QueueNotFound") {
		return err
	}
	if err := q.create(ctx); err != nil {
		return err
	}
	err = q.add(ctx, text, delay, 0)
	return err
}

// poisonTexts returns the possible texts of a message for the poison queue q, the most
// informative first.
func poisonTexts(q queue, m *message, e *envelope, attempts int, reason error) []string {
	poison := *e
	poison.Version = envelopeVersion
	if poison.Body == nil && poison.Claim == nil && poison.Text == nil {
		poison.Text = &m.text // the message was unreadable
	}
	poison.Poison = &poisonInfo{Message: m.id, Reason: shortReason(reason), Attempts: attempts, Inserted: m.inserted.UTC(), At: m.now().UTC()}
	var texts []string
	for {
		b, err := poison.marshal(q)
		if err != nil {
			break
		}
		if len(b) <= maxJSON {
			texts = append(texts, base64.StdEncoding.EncodeToString(b))
			break
		}
		if poison.Poison.Reason == "" {
			if poison.Text != nil {
				// A text that XML could carry before needs no base64, which makes it smaller.
				texts = append(texts, string(b))
			}
			break
		}
		poison.Poison.Reason = truncate(poison.Poison.Reason, len(poison.Poison.Reason)/2)
	}
	return append(texts, m.text)
}

const maxReason = 500 // bytes

// shortReason returns the reason as it is stored: printable and truncated.
func shortReason(reason error) string { return truncate(azerr.Printable(reason.Error()), maxReason) }

// truncate returns at most n bytes of s, and no part of a rune.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
