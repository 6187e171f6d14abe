package journal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAsOfReturnsWhatWasStoredAtATime(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, &journal.Options[order]{Keep: 150 * time.Minute})
		began := time.Now()
		step := func(do func() error) {
			time.Sleep(time.Hour)
			assert.NoError(t, do())
		}
		put := func(row, state string) func() error {
			return func() error { _, err := w.Put(ctx, newOrder(row, state, 0)); return err }
		}
		step(put("1", "new"))                                // after 1 h
		step(put("1", "paid"))                               // 2 h
		step(func() error { return w.Delete(ctx, at("1")) }) // 3 h
		step(put("1", "again"))                              // 4 h
		step(put("2", "new"))                                // 5 h
		want := func(hours float64, row, state string) {
			t.Helper()
			c, err := w.changes.AsOf(ctx, at(row), began.Add(time.Duration(hours*float64(time.Hour))))
			got := c.Event.String()
			if c.After != nil {
				got = c.After.State
			}
			if errors.Is(err, patterns.ErrNotFound) {
				got = "nothing"
			} else {
				assert.NoError(t, err)
			}
			assert.Equal(t, got, state, fmt.Sprint(hours, " hours"))
		}
		want(0.5, "1", "nothing")
		want(1.5, "1", "new")
		want(2.5, "1", "paid")
		want(3.5, "1", "deleted")
		want(4.5, "1", "again")
		want(4.5, "2", "nothing")
		want(9, "2", "new")
		r := assert.Must(w.changes.Sweep(ctx, nil))(t) // keeps what is younger than 2.5 hours, and the state before
		assert.Equal(t, fmt.Sprint(r.Found, r.Done, r.Skipped), "2 1 1")
		want(1.5, "1", "nothing")
		want(2.5, "1", "paid")
		want(3.5, "1", "deleted")
		r = assert.Must(w.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: 90 * time.Minute, DryRun: true}))(t)
		assert.Equal(t, fmt.Sprint(r.Found, r.Done, r.Skipped), "2 1 1")
		r = assert.Must(w.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: 90 * time.Minute}))(t)
		assert.Equal(t, fmt.Sprint(r.Found, r.Done, r.Skipped), "2 1 1")
		want(4.5, "1", "again")
		want(3.5, "1", "deleted")
		r = assert.Must(w.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: 90 * time.Minute}))(t)
		assert.Equal(t, fmt.Sprint(r.Found, r.Done, r.Skipped), "1 1 0") // a deletion with nothing older need not be kept
		want(4.5, "1", "again")
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted again:0]")
	})
}

func TestAsOfReadsOnUntilARowOrTheEnd(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx, w := t.Context(), newWorld(t, b, nil)
		assert.Must(w.Put(ctx, newOrder("1", "first", 0)))(t)
		time.Sleep(time.Hour)
		then := time.Now()
		time.Sleep(time.Hour)
		for i := range 30 {
			assert.Must(w.Put(ctx, newOrder("1", "new", i)))(t)
		}
		for _, rule := range []storagetest.Rule{storagetest.On("Table.Query").Times(1).EmptyPage(), storagetest.On("Table.Query").Times(storagetest.Forever).CutPage(10)} {
			b.Fault(rule)
			assert.Equal(t, assert.Must(w.changes.AsOf(ctx, at("1"), then))(t).After.State, "first")
			b.ClearFaults()
		}
	})
}

func TestASweepDoesNotRevealAnOlderState(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for _, opts := range []patterns.SweepOptions{{Deadline: 1}, {}} {
			w := newWorld(t, b, nil)
			for i := range 150 {
				assert.Must(w.Put(ctx, newOrder("1", "new", i)))(t)
			}
			assert.NoError(t, w.Delete(ctx, at("1")))
			time.Sleep(time.Hour)
			b.Fault(storagetest.On("Table.Query").Times(storagetest.Forever).Delay(time.Second))
			if opts.Deadline == 0 {
				b.Fault(storagetest.On("Table.Batch").Nth(3).Times(5).Status(500, "InternalError"))
			}
			opts.OlderThan = time.Minute
			for range 6 {
				r, err := w.changes.Sweep(ctx, &opts)
				if opts.Cursor = r.Cursor; err != nil {
					t.Log(err)
				}
				if c, err := w.changes.AsOf(ctx, at("1"), time.Now()); !errors.Is(err, patterns.ErrNotFound) && (err != nil || c.Event != journal.Deleted) {
					t.Errorf("the entity is deleted, AsOf returns %v, %v", c.Event, err)
				}
			}
			b.ClearFaults()
			assert.Equal(t, len(w.history(t, "1")), 0)
		}
	})
}

func TestASweepThatEndsAnywhereLosesNothing(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for n := 1; ; n++ {
			w := newWorld(t, b, nil)
			for i := range 3 {
				assert.Must(w.Put(ctx, newOrder("1", "new", i)))(t)
				assert.Must(w.Put(ctx, newOrder("2", "new", i)))(t)
				assert.NoError(t, w.Delete(ctx, at("2")))
			}
			b.ResetRequests()
			b.Fault(storagetest.On("Table.*").Nth(n).Times(storagetest.Forever).Status(500, "InternalError"))
			if n%2 == 0 {
				b.ClearFaults()
				b.Fault(storagetest.On("Table.*").Nth(n / 2).Times(storagetest.Forever).LoseReply())
			}
			time.Sleep(1100 * time.Millisecond) // rows are as old as full seconds show
			_, failed := w.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: time.Millisecond})
			b.ClearFaults()
			assert.Must(w.Put(ctx, newOrder("1", "new", 3)))(t)
			assert.Must(w.Insert(ctx, newOrder("2", "new", 3)))(t)
			for _, row := range []string{"1", "2"} {
				history := w.history(t, row) // in the order of the versions
				want := map[string]string{"1": "updated new:3", "2": "inserted new:3"}[row]
				if got := history[len(history)-1]; got != want {
					t.Errorf("request %d: the history of %s ends with %q, want %q: %q", n, row, got, want, history)
				}
			}
			if r := assert.Must(w.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: time.Millisecond}))(t); r.Failed > 0 {
				t.Errorf("request %d: %+v", n, r)
			}
			if failed == nil {
				return
			}
		}
	})
}

// A row of the journal names its operation, as a row that is reserved does.
func TestASweepOfTheStoreReadsNoChanges(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		tags := secondaryindex.Lookup("state", nil, func(o *order) []string { return []string{o.State} }, nil)
		w := newWorld(t, b, nil, tags)
		for i := range 3 {
			assert.Must(w.Put(ctx, newOrder("1", "new", i)))(t)
		}
		assert.NoError(t, w.Delete(ctx, at("1")))
		time.Sleep(time.Hour)
		b.ResetRequests()
		assert.Equal(t, assert.Must(w.Store.Sweep(ctx, nil))(t).Found, 0)
		assert.Equal(t, b.Requests()[0].Returned, 0)
		b.WantOps(t, "Table.Query")
		assert.Equal(t, len(w.history(t, "1")), 4)

		// A program without the journal reads the rows, also if it uses the name for something else.
		copies := secondaryindex.Intra("journal", func(o *order) (string, bool) { return o.State, true }, nil)
		for _, view := range []patterns.View[order]{tags, copies} {
			without := harness.NewStore(t, w.Table().Client(), &patterns.StoreOptions[order]{
				Views: []patterns.View[order]{view}, Outbox: &harness.OutboxQueue{},
			})
			assert.Equal(t, assert.Must(without.Sweep(ctx, nil))(t).Found, 0)
		}
		many := []patterns.View[order]{journal.Of[order]("journal", nil)}
		for i := range 12 {
			many = append(many, secondaryindex.Lookup(fmt.Sprint("state", i), nil, func(o *order) []string { return []string{o.State} }, nil))
		}
		full := harness.NewStore(t, w.Table().Client(), &patterns.StoreOptions[order]{Views: many})
		assert.Equal(t, assert.Must(full.Sweep(ctx, nil))(t).Found, 0)
	})
}
