package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// newFeedWorld returns a world with a feed that has a handler.
func newFeedWorld(t testing.TB, b *harness.Backend, more ...patterns.View[order]) (*world, *reader) {
	t.Helper()
	r := newReader(t, b, "search")
	w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour}, more...)
	w.changes.Handle(r.worker, r.Feed, r.handle)
	return w, r
}

// sweep sweeps, and wants that so many things were found.
func (w *world) sweep(t testing.TB, found int) {
	t.Helper()
	report := assert.Must(w.changes.Sweep(t.Context(), nil))(t)
	assert.Equal(t, fmt.Sprint(report.Found, report.Done, report.Failed), fmt.Sprint(found, found, 0))
}

// runFor runs the worker in virtual time.
func (r *reader) runFor(t testing.TB, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	assert.NoError(t, r.worker.Run(ctx))
}

// parked runs the worker for ten seconds, and returns the reasons of its poison messages, which it discards.
func (r *reader) parked(t testing.TB) (reasons string) {
	t.Helper()
	r.runFor(t, 10*time.Second)
	q := assert.Must(eventual.NewPoisonQueue(r.queue, r.poison, nil))(t)
	for m, err := range q.Take(t.Context()) {
		assert.NoError(t, err)
		assert.NoError(t, q.Discard(t.Context(), m))
		reasons += m.Reason
	}
	return reasons
}

func TestAFeedThatWasAbsentForTooLongGetsAnError(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w, r := newFeedWorld(t, b)
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		w.sweep(t, 1) // it puts the message again
		time.Sleep(61 * time.Minute)
		w.sweep(t, 1) // it closes the epoch, which is old
		time.Sleep(61 * time.Minute)
		w.sweep(t, 2) // it deletes the changes, and the feed gets a message
		assert.Contains(t, r.parked(t), "swept", "the reason")
		assert.Must(w.changes.Start(ctx, r.Feed, journal.Snapshot, nil))(t)
		assert.Equal(t, r.run(t, 1), "[1 present new]")
		assert.Must(w.Put(ctx, newOrder("1", "paid", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated paid]")
		time.Sleep(61 * time.Minute)
		w.sweep(t, 2) // two epochs, delivered
		w.sweep(t, 0)
		assert.Must(w.Put(ctx, newOrder("1", "sent", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated sent]")
	})
}

// The first changes are deleted after the worker has found that the feed has no position, and before it reads what is left.
func TestAFeedWhosePartitionIsSweptMeanwhile(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, r := newFeedWorld(t, b)
		assert.Must(w.Insert(t.Context(), newOrder("1", "new", 1)))(t)
		time.Sleep(61 * time.Minute)
		w.sweep(t, 1) // it closes the epoch, which is old
		time.Sleep(61 * time.Minute)
		assert.Must(r.queue.ClearMessages(t.Context(), nil))(t) // they were lost
		assert.Must(w.Put(t.Context(), newOrder("1", "paid", 1)))(t)
		b.Fault(storagetest.On("Table.Query").Nth(1).Delay(20 * time.Second)) // for what is left
		var sweeping sync.WaitGroup
		sweeping.Go(func() {
			time.Sleep(10 * time.Second)
			w.sweep(t, 2)
		})
		reasons := r.parked(t) // it ends when the request has arrived
		sweeping.Wait()
		assert.Contains(t, reasons+r.parked(t), "swept", "the reason")
		assert.Equal(t, r.all(), "[]", "delivered")
	})
}

// A sweep that dies after any request leaves an epoch that a feed does not deliver in part, and that the next sweep deletes.
func TestASweepOfAFeedThatEndsAnywhere(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for n := 1; ; n++ {
			w, r := newFeedWorld(t, b)
			var many []patterns.StoreOp[order] // more than one transaction deletes
			for i := range 120 {
				many = append(many, patterns.InsertEntity(newOrder(fmt.Sprint(i), "new", 1)))
			}
			assert.Must(w.Bulk(ctx, slices.Values(many), nil))(t)
			time.Sleep(61 * time.Minute)
			w.sweep(t, 1)
			time.Sleep(61 * time.Minute)
			b.ResetRequests()
			if b.Fault(storagetest.On("Table.*").Nth(n).Times(storagetest.Forever).Status(500, "InternalError")); n%2 == 0 {
				b.ClearFaults()
				b.Fault(storagetest.On("Table.*").Nth(n / 2).Times(storagetest.Forever).LoseReply())
			}
			report, failed := w.changes.Sweep(ctx, nil)
			b.ClearFaults()
			assert.Must(w.Insert(ctx, newOrder("last", "new", 1)))(t)
			r.runFor(t, 10*time.Second)
			q := assert.Must(r.poison.PeekMessages(ctx, nil))(t)
			switch got := len(r.delivered); {
			case got == 0 && len(q.Messages) > 0: // the sweep had marked the epoch
			case got == 121 && len(q.Messages) == 0:
			default:
				t.Errorf("after %d: %d changes were delivered, and %d messages parked", n, got, len(q.Messages))
			}
			time.Sleep(61 * time.Minute)
			assert.Must(w.changes.Sweep(ctx, nil))(t)
			time.Sleep(61 * time.Minute)
			assert.Must(w.changes.Sweep(ctx, nil))(t)
			left := 0
			for _, row := range harness.Rows(t, w.Table().Client()) {
				if strings.Contains(string(row), "~azp_feed_") {
					left++
				}
			}
			if left > 1 { // the marker
				t.Errorf("after %d: %d rows are left", n, left)
			}
			if failed == nil && report.Failed == 0 {
				return
			}
		}
	})
}

func TestAFeedAfterItsPartitionWasDeleted(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w, r := newFeedWorld(t, b)
		for i := range 3 {
			assert.Must(w.Put(ctx, newOrder("1", fmt.Sprint("state", i), 1)))(t)
			r.run(t, 1)
		}
		assert.Must(w.Put(ctx, newOrder("1", "lost", 1)))(t) // its message arrives after the partition was deleted
		time.Sleep(2 * time.Second)
		deleteAll(t, w.Table().Client())
		assert.Must(w.Put(ctx, newOrder("1", "anew", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 inserted anew]")
		assert.Equal(t, r.parked(t), "")
		assert.Must(w.again(t, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour}).Put(ctx, newOrder("1", "paid", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated paid]")
	})
}

func deleteAll(t testing.TB, client *aztables.Client) {
	t.Helper()
	for _, row := range harness.Rows(t, client) {
		var e aztables.EDMEntity
		assert.NoError(t, e.UnmarshalJSON(row))
		assert.Must(client.DeleteEntity(t.Context(), e.PartitionKey, e.RowKey, nil))(t)
	}
}

// A program that does not declare the feed writes no changes for it. Those of the others arrive, and a start delivers what was missed.
func TestAFeedNextToAProgramWithoutIt(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w, r := newFeedWorld(t, b)
		old := w.again(t, nil)
		assert.Must(old.Insert(ctx, newOrder("1", "unseen", 1)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "seen", 1)))(t)
		assert.Must(old.Put(ctx, newOrder("2", "unseen", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated seen]")
		assert.Must(w.changes.Start(ctx, r.Feed, journal.Snapshot, nil))(t)
		assert.Equal(t, r.run(t, 2), "[1 present seen 2 present unseen]")
	})
}

func TestAFeedDeliversExpiries(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		e := expiry.At("until", b.Table(t), func(o *order) time.Time { return o.Until }, nil)
		w, r := newFeedWorld(t, b, e)
		o := newOrder("1", "new", 1)
		o.Until = time.Now().Add(time.Minute)
		assert.Must(w.Insert(ctx, o))(t)
		assert.Equal(t, r.run(t, 1), "[1 inserted new]")
		time.Sleep(time.Hour)
		assert.Must(e.On(w.Store).Sweep(ctx, nil))(t)
		assert.Equal(t, r.run(t, 1), "[1 expired]")
	})
}

func TestFeedsRefuseBadOptions(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		queue := b.Queue(t)
		for name, f := range map[string]func() error{
			"no queue": func() error { return assert.ErrorOf(journal.NewFeed(nil, "search", nil)) },
			"name":     func() error { return assert.ErrorOf(journal.NewFeed(queue, "a_b", nil)) },
			"Delay":    func() error { return assert.ErrorOf(journal.NewFeed(queue, "a", &journal.FeedOptions{Delay: -1})) },
			"Delay, long": func() error {
				return assert.ErrorOf(journal.NewFeed(queue, "a", &journal.FeedOptions{Delay: 2 * time.Hour}))
			},
			"Lease": func() error {
				return assert.ErrorOf(journal.NewFeed(queue, "a", &journal.FeedOptions{Lease: time.Second}))
			},
		} {
			if f() == nil {
				t.Errorf("%s: no error", name)
			}
		}
		feed := assert.Must(journal.NewFeed(queue, "search", nil))(t)
		for name, opts := range map[string]*journal.Options[order]{
			"FeedKeep":  {Feeds: []*journal.Feed{feed}},
			"Feeds":     {FeedKeep: time.Hour},
			"two":       {FeedKeep: time.Hour, Feeds: []*journal.Feed{feed, feed}},
			"nil":       {FeedKeep: time.Hour, Feeds: []*journal.Feed{nil}},
			"zero Feed": {FeedKeep: time.Hour, Feeds: []*journal.Feed{{}}},
		} {
			table := harness.NewTable[order](t, b.Table(t), nil)
			_, err := patterns.NewStore(table, &patterns.StoreOptions[order]{Views: []patterns.View[order]{journal.Of("journal", opts)}})
			if !errors.Is(err, patterns.ErrBadOption) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{feed}, FeedKeep: time.Hour})
		other := assert.Must(journal.NewFeed(queue, "search", nil))(t)
		b.ResetRequests()
		assert.WantError(t, assert.ErrorOf(w.changes.Lag(t.Context(), other, "shop")), patterns.ErrBadOption)
		assert.WantError(t, assert.ErrorOf(w.changes.Start(t.Context(), feed, 0, nil)), patterns.ErrBadOption)
		b.WantRequestCount(t, 0)
	})
}
