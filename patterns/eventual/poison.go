package eventual

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns"
)

// bury moves the message to the poison queue: the copy first, then the original is
// deleted. A crash in between leaves two, never none. Two requests.
func (d *delivery) bury(reason error) {
	if d.w.poison.client == nil {
		d.show(Parked, maxHide, false, reason)
		return
	}
	err := d.putDead(buriedTexts(d.m, &d.env, d.attempt, reason))
	if err != nil {
		// The message stays; its next delivery is one attempt too many, and comes here.
		d.failed("message not copied to the poison queue", err)
		d.show(Retrying, d.w.opts.Backoff(d.attempt), false, reason)
		return
	}
	if err := d.remove(); err != nil {
		d.failed("message not deleted after it was copied to the poison queue", err)
	}
	d.report(Poisoned, reason)
}

// putDead puts the first of texts that fits.
func (d *delivery) putDead(texts []string) error {
	var err error
	for _, text := range texts {
		if len(text) > maxText {
			err = patterns.ErrTooLarge
			continue
		}
		err = d.end(func(ctx context.Context) error { return putOrCreate(ctx, d.w.poison, text) })
		if !errors.Is(err, patterns.ErrTooLarge) {
			return err
		}
	}
	return err
}

// putOrCreate puts a message, and creates the queue where there is none.
func putOrCreate(ctx context.Context, q queue, text string) error {
	_, _, err := q.put(ctx, text, 0, 0)
	if !hasCode(err, "QueueNotFound") {
		return err
	}
	if err := q.create(ctx); err != nil {
		return err
	}
	_, _, err = q.put(ctx, text, 0, 0)
	return err
}

// buriedTexts are the forms of a dead message, the one that tells most first.
func buriedTexts(m *message, e *envelope, attempts int, reason error) []string {
	dead := *e
	dead.Version = envelopeVersion
	if dead.Body == nil && dead.Claim == nil {
		dead.Text = &m.text // also what could not be read at all
	}
	dead.Burial = &burial{Message: m.id, Reason: clean(reason), Attempts: attempts, Inserted: m.inserted.UTC(), At: time.Now().UTC()}
	var texts []string
	for {
		b, err := compact(&dead)
		if err != nil {
			break
		}
		if len(b) <= maxJSON {
			texts = append(texts, base64.StdEncoding.EncodeToString(b))
			break
		}
		if dead.Burial.Reason == "" {
			if dead.Text != nil {
				texts = append(texts, string(b)) // saves the base64 of a text that XML took already
			}
			break
		}
		dead.Burial.Reason = cut(dead.Burial.Reason, len(dead.Burial.Reason)/2)
	}
	return append(texts, m.text)
}

const maxReason = 500 // bytes

// clean is a reason as it is stored: short, and without control characters.
func clean(reason error) string {
	s := strings.ToValidUTF8(reason.Error(), "�")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return cut(s, maxReason)
}

// cut is at most n bytes of s, and no half rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
