package journal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A sweep of several pages takes time, and its second page has the cursor of the first.
func TestASweepOfAFeedHasPages(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, _ := newFeedWorld(t, b)
		for i := range 5 {
			assert.Must(w.Insert(t.Context(), &order{PartitionKey: fmt.Sprint("p", i), RowKey: "1"}))(t)
		}
		b.Fault(storagetest.On("Table.Query").Times(storagetest.Forever).Delay(time.Second), storagetest.On("Table.Query").Times(storagetest.Forever).CutPage(2))
		w.sweep(t, 5)
		_, cursors := harness.SweepInPieces(t, patterns.SweepOptions{Deadline: 1}, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return w.changes.Sweep(t.Context(), o)
		})
		assert.Equal(t, len(cursors) > 1, true, "several pieces")
		report := assert.Must(w.changes.Sweep(t.Context(), &patterns.SweepOptions{Partitions: []string{"p1", "p3"}}))(t)
		assert.Equal(t, report.Found, 2)
	})
}

// A program that knows an epoch whose message is gone, because the partition was deleted or the message was parked, puts another one.
func TestAnotherMessageIsPut(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, b *harness.Backend, w *world, r *reader){
		"deleted": func(t *testing.T, b *harness.Backend, w *world, r *reader) {
			deleteAll(t, w.Table().Client())
			other := w.again(t, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
			for i := range 2 {
				assert.Must(other.Put(t.Context(), newOrder("1", "other", i)))(t)
				r.run(t, 1)
			}
		},
		"parked": func(t *testing.T, b *harness.Backend, w *world, r *reader) {
			assert.Must(w.Put(t.Context(), newOrder("1", "unseen", 1)))(t)
			b.Fault(storagetest.On("Table.*").Times(storagetest.Forever).Status(503, "ServerBusy"))
			assert.Equal(t, r.parked(t) != "", true, "parked")
			b.ClearFaults()
		},
	} {
		t.Run(name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				w, r := newFeedWorld(t, b)
				for i := range 2 {
					assert.Must(w.Put(t.Context(), newOrder("1", "new", i)))(t)
					r.run(t, 1)
				}
				lose(t, b, w, r)
				for range 10 { // at most so many seconds until another message is put
					assert.Must(w.Put(t.Context(), newOrder("1", "last", 1)))(t)
					time.Sleep(time.Second)
				}
				r.runFor(t, 20*time.Second)
				assert.Equal(t, strings.Count(r.all(), "last"), 10)
			})
		})
	}
}

func TestAMessageOfAnotherTableIsParked(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		_, r := newFeedWorld(t, b)
		same := assert.Must(journal.NewFeed(r.queue, "search", nil))(t)
		other := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{same}, FeedKeep: time.Hour})
		assert.Must(other.Insert(t.Context(), newOrder("1", "new", 1)))(t)
		assert.Contains(t, r.parked(t), "another table", "the reason")
		assert.Equal(t, r.all(), "[]")
	})
}

// The workers of a new version deliver what programs of the old one have recorded with another Content.
func TestAViewAfterContentWasChanged(t *testing.T) {
	for _, content := range []journal.Content{journal.KeyOnly, journal.Changed} {
		harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
			r := newReader(t, b, "search")
			old := newWorld(t, b, &journal.Options[order]{Content: content, Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
			assert.Must(old.Insert(t.Context(), newOrder("1", "new", 1)))(t)
			assert.Must(old.Update(t.Context(), at("1"), func(o *order) error { o.Total = 2; return nil }))(t)
			w := old.again(t, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
			w.changes.HandleView(r.worker, r.Feed, func(_ context.Context, key keys.Key, o *order, _ journal.Version) error {
				if o == nil {
					return r.add("nothing")
				}
				return r.add(fmt.Sprint(o.State, o.Total))
			})
			assert.Equal(t, r.run(t, 1), "[new2]")
		})
	}
}

// A view has the entities that Only selects, also after a snapshot.
func TestAViewHasTheSelectedEntities(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		r := newReader(t, b, "search")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour, Only: func(o *order) bool { return o.State != "secret" }})
		w.changes.HandleView(r.worker, r.Feed, func(_ context.Context, key keys.Key, o *order, _ journal.Version) error {
			if o == nil {
				return r.add(key.Row + " nothing")
			}
			return r.add(key.Row + " " + o.State)
		})
		assert.Must(w.Insert(ctx, newOrder("1", "secret", 1)))(t)
		assert.Must(w.Insert(ctx, newOrder("2", "open", 1)))(t)
		assert.Must(w.changes.Start(ctx, r.Feed, journal.Snapshot, nil))(t)
		assert.Equal(t, r.run(t, 1), "[2 open]")
		assert.Must(w.Put(ctx, newOrder("2", "secret", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[2 nothing]")
	})
}

// An entity that was delivered is not delivered again because a later one fails.
func TestAViewMakesProgress(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		r := newReader(t, b, "search")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		calls := 0
		w.changes.HandleView(r.worker, r.Feed, func(_ context.Context, key keys.Key, o *order, _ journal.Version) error {
			if calls++; calls == 20 {
				return errBroken
			}
			return r.add(key.Row)
		})
		var many []patterns.StoreOp[order]
		for i := range 30 {
			many = append(many, patterns.InsertEntity(newOrder(fmt.Sprint(i), "new", i)))
		}
		assert.Must(w.Bulk(t.Context(), slices.Values(many), nil))(t)
		r.run(t, 30)
		assert.Equal(t, calls, 31)
	})
}

// What is left of a partition, without the root, ends in an error and not in requests without an end.
func TestAFeedOfAPartitionWithoutARoot(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, r := newFeedWorld(t, b)
		assert.Must(w.Insert(t.Context(), newOrder("1", "new", 1)))(t)
		r.run(t, 1)
		assert.Must(w.Insert(t.Context(), newOrder("2", "new", 1)))(t)
		assert.Must(w.Table().Client().DeleteEntity(t.Context(), "shop", "~azp_feed", nil))(t)
		b.ResetRequests()
		r.runFor(t, time.Minute)
		if n := b.Requests().Count("Table.*"); n > 200 {
			t.Errorf("%d requests", n)
		}
	})
}

// A feed that has delivered everything misses nothing if empty epochs are deleted, and sweeps do not disturb each other.
func TestEmptyEpochsAreSwept(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		r, other := newReader(t, b, "search"), newReader(t, b, "other")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed, other.Feed}, FeedKeep: time.Hour})
		w.changes.Handle(r.worker, r.Feed, r.handle)
		w.changes.Handle(other.worker, other.Feed, other.handle)
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		r.run(t, 1)
		other.run(t, 1)
		for range 3 {
			assert.Must(w.changes.Start(ctx, other.Feed, journal.Now, nil))(t)
		}
		time.Sleep(25 * time.Hour)
		var sweeping sync.WaitGroup
		for range 3 {
			sweeping.Go(func() {
				report, err := w.changes.Sweep(ctx, nil)
				assert.NoError(t, err)
				assert.Equal(t, report.Failed, 0, report.Failures)
			})
		}
		sweeping.Wait()
		assert.Must(w.Put(ctx, newOrder("1", "last", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated last]")
		assert.Equal(t, r.parked(t), "")
	})
}

// A worker whose feed is not one of the journal does not run.
func TestAWorkerOfAnotherFeedDoesNotRun(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w, r := newFeedWorld(t, b)
		same := assert.Must(journal.NewFeed(r.queue, "search", nil))(t)
		for _, f := range []*journal.Feed{nil, {}, same} {
			worker := assert.Must(eventual.NewWorker(r.queue, nil))(t)
			w.changes.Handle(worker, f, r.handle)
			assert.WantError(t, worker.Run(t.Context()), eventual.ErrBadKind)
		}
	})
}

// A refusal that does not name the row does not show that the marker is lost.
func TestAnUnnamedRefusalIsNoLostMarker(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, r := newFeedWorld(t, b)
		assert.Must(w.Insert(t.Context(), newOrder("1", "new", 1)))(t)
		b.Fault(storagetest.On("Table.Batch").Nth(1).Times(2).Status(404, "ResourceNotFound"))
		assert.Must(w.Update(t.Context(), at("1"), func(o *order) error { o.State = "paid"; return nil }))(t)
		b.ClearFaults()
		assert.Must(w.Put(t.Context(), newOrder("1", "sent", 1)))(t)
		r.runFor(t, 10*time.Second)
		assert.Equal(t, r.parked(t), "")
		assert.Contains(t, r.all(), "1 updated sent", "deliveries")
	})
}
