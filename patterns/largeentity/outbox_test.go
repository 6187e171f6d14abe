package largeentity_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// If a process dies at any request, after the grace period the outbox messages leave
// exactly the blobs to which the entity refers, without a sweep.
func TestOutboxMessagesDeleteUnreferencedBlobs(t *testing.T) {
	full := func(mark string) *employee {
		e := newJones(mark, large)
		e.Notes = mark + string(make([]byte, large))
		return e
	}
	before, after := full("a"), full("b")
	var w *harness.OutboxQueue // outlives the process; the runs are sequential
	open := func(acct *storagetest.Account) (table, error) {
		return largeentity.New(acct.Tables().NewClient("Employees"), acct.Container("photos"), &largeentity.Options[employee]{Outbox: w})
	}
	for name, run := range map[string]func(ctx context.Context, acct *storagetest.Account, table table) error{
		"insert": func(ctx context.Context, _ *storagetest.Account, table table) error {
			if err := table.Delete(ctx, jones, ""); err != nil {
				return err
			}
			return assert.ErrorOf(table.Insert(ctx, after))
		},
		"replace": func(ctx context.Context, _ *storagetest.Account, table table) error {
			return assert.ErrorOf(table.Update(ctx, jones, func(e *employee) error { *e = *after; return nil }))
		},
		"drop": func(ctx context.Context, _ *storagetest.Account, table table) error {
			return assert.ErrorOf(table.Update(ctx, jones, func(e *employee) error { e.Notes = ""; return nil }))
		},
		"a conflict": func(ctx context.Context, acct *storagetest.Account, table table) error {
			acct.Fault(storagetest.On("Table.Replace").Nth(1).Status(412, "UpdateConditionNotSatisfied"))
			return assert.ErrorOf(table.Update(ctx, jones, func(e *employee) error { *e = *after; return nil }))
		},
		"delete, its reply lost": func(ctx context.Context, acct *storagetest.Account, table table) error {
			acct.Fault(storagetest.On("Table.Delete").Nth(1).LoseReply())
			return table.Delete(ctx, jones, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
				w = &harness.OutboxQueue{}
				table, err := open(acct)
				if err != nil {
					return err
				}
				if err := table.Create(ctx); err != nil {
					return err
				}
				if _, err := table.Insert(ctx, before); err != nil {
					return err
				}
				acct.Arm()
				return run(ctx, acct, table)
			}, func(t *testing.T, acct *storagetest.Account) {
				table := assert.Must(open(acct))(t)
				// Too early: nothing is deleted, and every message stays.
				assert.NoError(t, w.Work(t.Context(), table.Handle))
				if _, err := table.Get(t.Context(), jones); err != nil && !errors.Is(err, patterns.ErrNotFound) {
					t.Fatal("dangling reference after an early message: ", err)
				}
				time.Sleep(2 * day)
				assert.NoError(t, w.Work(t.Context(), table.Handle))
				want := 0
				item, err := table.Get(t.Context(), jones)
				switch {
				case err == nil:
					if want = 1; item.Value.Notes != "" {
						want = 2
					}
				case errors.Is(err, patterns.ErrNotFound):
					// When the entity was deleted is not known, so the first delivery marks its blobs.
					time.Sleep(2 * day)
					assert.NoError(t, w.Work(t.Context(), table.Handle))
				default:
					t.Fatal(err)
				}
				assert.Equal(t, len(stored(t, acct.Container("photos"))), want, "blobs")
				assert.Equal(t, w.Len(), 0, "messages left")
			})
		})
	}
}

func TestRequestsWithAnOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		var w harness.OutboxQueue
		table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &w})
		assert.NoError(t, table.Create(t.Context()))
		assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), newJones("a", large))))
		for _, c := range []struct {
			what string
			do   func() error
			want int // in addition to the message
		}{
			{"update that changes no blob", func() error {
				return assert.ErrorOf(table.UpdateMeta(t.Context(), jones, func(e *employee) error { e.Age++; return nil }))
			}, 2},
			{"delete", func() error { return table.Delete(t.Context(), jones, "") }, 2},
			{"delete of no entity", func() error { return table.Delete(t.Context(), jones, "") }, 1},
		} {
			acct.ResetLog()
			before := w.Len()
			assert.Equal(t, c.do(), nil, c.what)
			assert.Equal(t, len(acct.Log()), c.want, c.what, "requests")
			if sent := w.Len() - before; c.what != "delete" && sent != 0 {
				t.Errorf("%s: %d messages", c.what, sent)
			}
		}
		// Two messages name the blob of the deleted entity. The first marks it, and deletes it
		// when delivered again; the second finds a new mark, and then no blob.
		for _, delivery := range []struct {
			want map[string]int
			left int
		}{
			{map[string]int{"Table.Get": 2, "Blob.Head": 2, "Blob.SetMetadata": 1}, 2},
			{map[string]int{"Table.Get": 2, "Blob.Head": 2, "Blob.Delete": 1}, 0},
		} {
			time.Sleep(2 * day)
			acct.ResetLog()
			assert.NoError(t, w.Work(t.Context(), table.Handle))
			for op, n := range delivery.want {
				assert.Equal(t, acct.Log().Count(op), n, "requests", op)
			}
			assert.Equal(t, w.Len(), delivery.left)
			assert.Equal(t, min(w.Len(), 1), len(stored(t, acct.Container("photos"))))
		}
	})
}

// A reader of an entity has the grace period to read its blobs, whenever the messages arrive
// and whichever write sent them.
func TestAReaderHasTheGracePeriodToReadBlobs(t *testing.T) {
	for _, early := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.New(t)
			var w delayedOutbox
			table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &w, Grace: day})
			assert.NoError(t, table.Create(t.Context()))
			assert.Must(table.Insert(t.Context(), newJones("first", large)))(t)
			replace := func(mark string) error {
				return assert.ErrorOf(table.UpdateMeta(t.Context(), jones, func(e *employee) error { e.Photo = newJones(mark, large).Photo; return nil }))
			}
			w.until(t, time.Now().Add(4*day), early, table.Handle)

			// The message of a write that fails names the photo that the write would have dropped.
			acct.Fault(storagetest.On("Table.Replace").Nth(1).Status(403, "AuthorizationFailure"))
			assert.Failed(assert.Now(t), replace("never"), "a refused write succeeded")
			acct.ClearFaults()
			w.until(t, time.Now().Add(day-time.Hour), early, table.Handle)

			seen := assert.Must(table.GetMeta(t.Context(), jones))(t)
			assert.NoError(t, replace("second"))
			w.until(t, time.Now().Add(day-time.Hour), early, table.Handle)
			if got, err := table.Load(t.Context(), seen); err != nil || !bytes.Equal(got.Value.Photo, newJones("first", large).Photo) {
				t.Errorf("early %v: blob of the row before the change: %v", early, err)
			}

			seen = assert.Must(table.GetMeta(t.Context(), jones))(t)
			assert.NoError(t, table.Delete(t.Context(), jones, ""))
			w.until(t, time.Now().Add(day-time.Hour), early, table.Handle)
			assert.Equal(t, assert.ErrorOf(table.Load(t.Context(), seen)), nil, "early", early, "blob of the row before the delete")
			w.until(t, time.Now().Add(4*day), early, table.Handle)
			assert.Equal(assert.Now(t), len(stored(t, acct.Container("photos"))), 0)
			assert.Equal(t, len(w.waiting), 0)
		})
	}
}

// If a message arrives while its write is in progress, the entity may still refer to the
// blobs that the write is about to drop.
func TestAMessageThatArrivesBeforeItsWriteIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		var w delayedOutbox
		table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &w, Grace: day})
		w.onPut = func(message patterns.OutboxMessage) time.Duration {
			acct.ResetLog()
			retryAfter, err := table.Handle(t.Context(), message)
			if err != nil || retryAfter <= 0 || len(acct.Log()) != 0 {
				t.Errorf("retry after %v, %v, %v", retryAfter, err, acct.Log())
			}
			return retryAfter
		}
		assert.NoError(t, table.Create(t.Context()))
		assert.Must(table.Insert(t.Context(), newJones("first", large)))(t)
		w.until(t, time.Now().Add(2*day), false, table.Handle)
		assert.Must(table.UpdateMeta(t.Context(), jones, func(e *employee) error { *e = *newJones("second", large); return nil }))(t)
		w.until(t, time.Now().Add(4*day), false, table.Handle)
		assert.Equal(assert.Now(t), len(stored(t, acct.Container("photos"))), 1)
		assert.Equal(t, len(w.waiting), 0)
	})
}

// The message for a blob names one entity, and its worker checks only the references of that
// entity. Therefore a Stream that was uploaded for one entity cannot be used for another.
func TestAStreamUploadedForOneEntityIsRefusedForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		var w harness.OutboxQueue
		table := open(t, acct.Tables().NewClient("Films"), acct.Container("photos"), &largeentity.Options[film]{Outbox: &w})
		assert.NoError(t, table.Create(t.Context()))
		assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), newFilm(strings.NewReader("first")))))
		f := newFilm(strings.NewReader("second"))
		assert.WantError(assert.Now(t), assert.ErrorOf(table.Insert(t.Context(), f)), patterns.ErrExists)
		elsewhere := *f
		elsewhere.RowKey = "2"
		assert.WantError(t, assert.ErrorOf(table.Insert(t.Context(), &elsewhere)), largeentity.ErrBadStream, "at another key")
		assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), keys.Key{Partition: "films", Row: "2"})), patterns.ErrNotFound, "the other entity")
		assert.NoError(t, table.Delete(t.Context(), metropolis, ""))
		item := assert.Must(table.Insert(t.Context(), f))(t) // the entity for which it was uploaded
		time.Sleep(2 * day)
		assert.NoError(t, w.Work(t.Context(), table.Handle))
		wantContent(t, item.Value.Video, []byte("second"))
		if n := len(stored(t, acct.Container("photos"))); n != 1 || w.Len() != 0 {
			t.Errorf("%d blobs, %d messages left", n, w.Len())
		}
	})
}

func TestNothingIsWrittenIfTheOutboxFails(t *testing.T) {
	acct := storagetest.New(t)
	table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: brokenOutbox{}})
	assert.NoError(t, table.Create(t.Context()))
	assert.WantError(t, assert.ErrorOf(table.Insert(t.Context(), newJones("a", large))), errBroken)
	assert.Equal(t, len(stored(t, acct.Container("photos"))), 0, "blobs")
	assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), jones)), patterns.ErrNotFound)
}

// The reply to the request that deletes the row is lost, and nothing can be read afterwards.
func TestADeletionThatMayHaveHappenedIsNotReportedAsRefused(t *testing.T) {
	for name, then := range map[string]storagetest.Rule{
		"connection lost": storagetest.On("Table.Get").Nth(2).Times(storagetest.Forever).LoseRequest(),
		"throttled":       storagetest.On("Table.Get").Nth(2).Times(storagetest.Forever).Status(503, "ServerBusy"),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, &largeentity.Options[employee]{Outbox: &harness.OutboxQueue{}}, func(t *testing.T, acct *storagetest.Account, table table) {
				assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
				acct.Fault(storagetest.On("Table.Delete").LoseReply(), then)
				err := table.Delete(t.Context(), jones, "")
				acct.ClearFaults()
				assert.WantError(t, err, patterns.ErrOutcomeUnknown)
				assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), jones)), patterns.ErrNotFound)
			})
		})
	}
}

// delayedOutbox is an outbox that delivers messages when they become visible.
type delayedOutbox struct {
	mu      sync.Mutex
	waiting []delayedMessage
	onPut   func(patterns.OutboxMessage) time.Duration // if not nil, also delivers all messages before Put returns
}

type delayedMessage struct {
	patterns.OutboxMessage
	at time.Time
}

func (c *delayedOutbox) Put(_ context.Context, w patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	c.add(delayedMessage{w, time.Now().Add(after)})
	if c.onPut != nil {
		c.deliver(true, c.onPut)
	}
	return patterns.Receipt{}, nil
}

func (c *delayedOutbox) add(d delayedMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, d)
}

func (c *delayedOutbox) Delete(context.Context, patterns.Receipt) error { return nil }

// deliver passes the visible messages, or all if early is true, to handle.
func (c *delayedOutbox) deliver(early bool, handle func(patterns.OutboxMessage) (retryAfter time.Duration)) {
	c.mu.Lock()
	all := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	for _, d := range all {
		if early || !time.Now().Before(d.at) {
			retryAfter := handle(d.OutboxMessage)
			if retryAfter <= 0 {
				continue
			}
			d.at = time.Now().Add(retryAfter)
		}
		c.add(d)
	}
}

// until waits until end, and delivers messages meanwhile.
func (c *delayedOutbox) until(t *testing.T, end time.Time, early bool, handle func(context.Context, patterns.OutboxMessage) (time.Duration, error)) {
	t.Helper()
	for ; time.Now().Before(end); time.Sleep(10 * time.Minute) {
		c.deliver(early, func(w patterns.OutboxMessage) time.Duration {
			retryAfter := assert.Must(handle(t.Context(), w))(t)
			return retryAfter
		})
	}
}

var errBroken = errors.New("broken")

type brokenOutbox struct{}

func (brokenOutbox) Put(context.Context, patterns.OutboxMessage, time.Duration) (patterns.Receipt, error) {
	return patterns.Receipt{}, errBroken
}

func (brokenOutbox) Delete(context.Context, patterns.Receipt) error { return nil }
