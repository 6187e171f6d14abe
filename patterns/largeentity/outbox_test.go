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

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A process may die at any request: when the grace time is over the wake-ups leave the
// blobs that the entity refers to, all of them and no others, without any sweep.
func TestWakeUpsDeleteWhatNobodyRefersTo(t *testing.T) {
	full := func(mark string) *employee {
		e := newJones(mark, large)
		e.Notes = mark + string(make([]byte, large))
		return e
	}
	before, after := full("a"), full("b")
	var w *testbed.Wakeups // outlives the process; the runs come one after the other
	open := func(acct *storagetest.Account) (table, error) {
		return largeentity.New(acct.Tables().NewClient("Employees"), acct.Container("photos"), &largeentity.Options[employee]{Outbox: w})
	}
	for name, run := range map[string]func(ctx context.Context, acct *storagetest.Account, table table) error{
		"insert": func(ctx context.Context, _ *storagetest.Account, table table) error {
			if err := table.Delete(ctx, jones, ""); err != nil {
				return err
			}
			return second(table.Insert(ctx, after))
		},
		"replace": func(ctx context.Context, _ *storagetest.Account, table table) error {
			return second(table.Update(ctx, jones, func(e *employee) error { *e = *after; return nil }))
		},
		"drop": func(ctx context.Context, _ *storagetest.Account, table table) error {
			return second(table.Update(ctx, jones, func(e *employee) error { e.Notes = ""; return nil }))
		},
		"a lost race": func(ctx context.Context, acct *storagetest.Account, table table) error {
			acct.Fault(storagetest.On("Table.Replace").Nth(1).Status(412, "UpdateConditionNotSatisfied"))
			return second(table.Update(ctx, jones, func(e *employee) error { *e = *after; return nil }))
		},
		"delete, its reply lost": func(ctx context.Context, acct *storagetest.Account, table table) error {
			acct.Fault(storagetest.On("Table.Delete").Nth(1).LoseReply())
			return table.Delete(ctx, jones, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
				w = &testbed.Wakeups{}
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
				table, err := open(acct)
				if err != nil {
					t.Fatal(err)
				}
				// Too early: nothing that is young is deleted, and all is shown again.
				if err := w.Work(t.Context(), table.Handle); err != nil {
					t.Fatal(err)
				}
				if _, err := table.Get(t.Context(), jones); err != nil && !errors.Is(err, patterns.ErrNotFound) {
					t.Fatal("dangling after an early wake-up: ", err)
				}
				time.Sleep(2 * day)
				if err := w.Work(t.Context(), table.Handle); err != nil {
					t.Fatal(err)
				}
				want := 0
				item, err := table.Get(t.Context(), jones)
				switch {
				case err == nil:
					if want = 1; item.Value.Notes != "" {
						want = 2
					}
				case errors.Is(err, patterns.ErrNotFound):
					// Nothing tells when it was deleted: the first showing marks its blobs.
					time.Sleep(2 * day)
					if err := w.Work(t.Context(), table.Handle); err != nil {
						t.Fatal(err)
					}
				default:
					t.Fatal(err)
				}
				if got := len(stored(t, acct.Container("photos"))); got != want {
					t.Errorf("%d blobs, want %d", got, want)
				}
				if n := w.Len(); n != 0 {
					t.Errorf("%d wake-ups left", n)
				}
			})
		})
	}
}

func TestRequestsWithAnOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		var w testbed.Wakeups
		table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &w})
		if err := table.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Insert(t.Context(), newJones("a", large)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what string
			do   func() error
			want int // beside the wake-up
		}{
			{"replace of what has no blob", func() error {
				return second(table.UpdateMeta(t.Context(), jones, func(e *employee) error { e.Age++; return nil }))
			}, 2},
			{"delete", func() error { return table.Delete(t.Context(), jones, "") }, 2},
			{"delete of what is gone", func() error { return table.Delete(t.Context(), jones, "") }, 1},
		} {
			acct.ResetLog()
			before := w.Len()
			if err := c.do(); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			if n := len(acct.Log()); n != c.want {
				t.Errorf("%s: %d requests, want %d", c.what, n, c.want)
			}
			if wakeups := w.Len() - before; c.what != "delete" && wakeups != 0 {
				t.Errorf("%s: %d wake-ups", c.what, wakeups)
			}
		}
		// Two wake-ups name the blob of an entity that is gone. The first marks it, and is
		// shown again to delete it; the second finds it young, and then gone.
		for _, showing := range []struct {
			want map[string]int
			left int
		}{
			{map[string]int{"Table.Get": 2, "Blob.Head": 2, "Blob.SetMetadata": 1}, 2},
			{map[string]int{"Table.Get": 2, "Blob.Head": 2, "Blob.Delete": 1}, 0},
		} {
			time.Sleep(2 * day)
			acct.ResetLog()
			if err := w.Work(t.Context(), table.Handle); err != nil {
				t.Fatal(err)
			}
			for op, n := range showing.want {
				if got := acct.Log().Count(op); got != n {
					t.Errorf("%d requests %s, want %d", got, op, n)
				}
			}
			if w.Len() != showing.left || min(w.Len(), 1) != len(stored(t, acct.Container("photos"))) {
				t.Errorf("%d blobs, %d wake-ups left", len(stored(t, acct.Container("photos"))), w.Len())
			}
		}
	})
}

// Who has read an entity has the grace time to read its blobs, whenever wake-ups come and
// whatever write they are of.
func TestAReaderHasTheGraceTimeWhateverWakesUp(t *testing.T) {
	for _, early := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.New(t)
			var w clockwork
			table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &w, Grace: day})
			if err := table.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			must(table.Insert(t.Context(), newJones("first", large)))(t)
			replace := func(mark string) error {
				return second(table.UpdateMeta(t.Context(), jones, func(e *employee) error { e.Photo = newJones(mark, large).Photo; return nil }))
			}
			w.until(t, time.Now().Add(4*day), early, table.Handle)

			// A write that comes to nothing tells of the photo that it would have dropped.
			acct.Fault(storagetest.On("Table.Replace").Nth(1).Status(403, "AuthorizationFailure"))
			if err := replace("never"); err == nil {
				t.Fatal("a refused write succeeded")
			}
			acct.ClearFaults()
			w.until(t, time.Now().Add(day-time.Hour), early, table.Handle)

			seen := must(table.GetMeta(t.Context(), jones))(t)
			if err := replace("second"); err != nil {
				t.Fatal(err)
			}
			w.until(t, time.Now().Add(day-time.Hour), early, table.Handle)
			if got, err := table.Load(t.Context(), seen); err != nil || !bytes.Equal(got.Value.Photo, newJones("first", large).Photo) {
				t.Errorf("early %v: what was read before the change: %v", early, err)
			}

			seen = must(table.GetMeta(t.Context(), jones))(t)
			if err := table.Delete(t.Context(), jones, ""); err != nil {
				t.Fatal(err)
			}
			w.until(t, time.Now().Add(day-time.Hour), early, table.Handle)
			if _, err := table.Load(t.Context(), seen); err != nil {
				t.Errorf("early %v: what was read before the delete: %v", early, err)
			}
			w.until(t, time.Now().Add(4*day), early, table.Handle)
			if len(stored(t, acct.Container("photos"))) != 0 || len(w.waiting) != 0 {
				t.Errorf("early %v: %d blobs, %d wake-ups left", early, len(stored(t, acct.Container("photos"))), len(w.waiting))
			}
		})
	}
}

// A wake-up that comes before its write is over finds that the entity still refers to
// what it is about to drop.
func TestAWakeUpBeforeItsWriteComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		var w clockwork
		table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: &w, Grace: day})
		w.atOnce = func(wakeup patterns.Wakeup) time.Duration {
			acct.ResetLog()
			again, err := table.Handle(t.Context(), wakeup)
			if err != nil || again <= 0 || len(acct.Log()) != 0 {
				t.Errorf("again %v, %v, %v", again, err, acct.Log())
			}
			return again
		}
		if err := table.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		must(table.Insert(t.Context(), newJones("first", large)))(t)
		w.until(t, time.Now().Add(2*day), false, table.Handle)
		must(table.UpdateMeta(t.Context(), jones, func(e *employee) error { *e = *newJones("second", large); return nil }))(t)
		w.until(t, time.Now().Add(4*day), false, table.Handle)
		if len(stored(t, acct.Container("photos"))) != 1 || len(w.waiting) != 0 {
			t.Errorf("%d blobs, %d wake-ups left", len(stored(t, acct.Container("photos"))), len(w.waiting))
		}
	})
}

// A wake-up says what becomes of a blob, and asks one entity. So a Stream that one entity
// did not come to refer to is no other's.
func TestAStreamOfOneEntityIsNotWrittenToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		var w testbed.Wakeups
		table := open(t, acct.Tables().NewClient("Films"), acct.Container("photos"), &largeentity.Options[film]{Outbox: &w})
		if err := table.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Insert(t.Context(), newFilm(strings.NewReader("first"))); err != nil {
			t.Fatal(err)
		}
		f := newFilm(strings.NewReader("second"))
		if _, err := table.Insert(t.Context(), f); !errors.Is(err, patterns.ErrExists) {
			t.Fatal(err)
		}
		elsewhere := *f
		elsewhere.RowKey = "2"
		if _, err := table.Insert(t.Context(), &elsewhere); !errors.Is(err, largeentity.ErrBadStream) {
			t.Errorf("at another key: %v", err)
		}
		if _, err := table.Get(t.Context(), keys.Key{Partition: "films", Row: "2"}); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("the other entity: %v", err)
		}
		if err := table.Delete(t.Context(), metropolis, ""); err != nil {
			t.Fatal(err)
		}
		item := must(table.Insert(t.Context(), f))(t) // where it was uploaded for
		time.Sleep(2 * day)
		if err := w.Work(t.Context(), table.Handle); err != nil {
			t.Fatal(err)
		}
		wantContent(t, item.Value.Video, []byte("second"))
		if n := len(stored(t, acct.Container("photos"))); n != 1 || w.Len() != 0 {
			t.Errorf("%d blobs, %d wake-ups left", n, w.Len())
		}
	})
}

// An outbox that cannot be reached refuses the write, with nothing uploaded.
func TestWithoutItsWakeUpNothingIsWritten(t *testing.T) {
	acct := storagetest.New(t)
	table := onAccount(t, acct, &largeentity.Options[employee]{Outbox: deaf{}})
	if err := table.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Insert(t.Context(), newJones("a", large)); !errors.Is(err, errDeaf) {
		t.Errorf("got %v", err)
	}
	if n := len(stored(t, acct.Container("photos"))); n != 0 {
		t.Errorf("%d blobs", n)
	}
	if _, err := table.Get(t.Context(), jones); !errors.Is(err, patterns.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// clockwork is an outbox whose wake-ups are shown at their time.
type clockwork struct {
	mu      sync.Mutex
	waiting []due
	atOnce  func(patterns.Wakeup) time.Duration // if set, they are shown before Put returns, too
}

type due struct {
	patterns.Wakeup
	at time.Time
}

func (c *clockwork) Put(_ context.Context, w patterns.Wakeup, after time.Duration) (patterns.Receipt, error) {
	c.add(due{w, time.Now().Add(after)})
	if c.atOnce != nil {
		c.show(true, c.atOnce)
	}
	return patterns.Receipt{}, nil
}

func (c *clockwork) add(d due) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, d)
}

func (c *clockwork) Delete(context.Context, patterns.Receipt) error { return nil }

// show hands over what is due, or all there is where early is true.
func (c *clockwork) show(early bool, handle func(patterns.Wakeup) (again time.Duration)) {
	c.mu.Lock()
	all := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	for _, d := range all {
		if early || !time.Now().Before(d.at) {
			again := handle(d.Wakeup)
			if again <= 0 {
				continue
			}
			d.at = time.Now().Add(again)
		}
		c.add(d)
	}
}

// until lets time pass, and shows what is due meanwhile.
func (c *clockwork) until(t *testing.T, end time.Time, early bool, handle func(context.Context, patterns.Wakeup) (time.Duration, error)) {
	t.Helper()
	for ; time.Now().Before(end); time.Sleep(10 * time.Minute) {
		c.show(early, func(w patterns.Wakeup) time.Duration {
			again, err := handle(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			return again
		})
	}
}

var errDeaf = errors.New("deaf")

type deaf struct{}

func (deaf) Put(context.Context, patterns.Wakeup, time.Duration) (patterns.Receipt, error) {
	return patterns.Receipt{}, errDeaf
}

func (deaf) Delete(context.Context, patterns.Receipt) error { return nil }
