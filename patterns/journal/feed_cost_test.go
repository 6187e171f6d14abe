package journal_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
)

func TestTheRequestsOfAChangeWithAFeed(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		r := newReader(t, b, "search")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		w.changes.Handle(r.worker, r.Feed, r.handle)
		b.ResetRequests()
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Queue.Put": 1, "Table.Batch": 1})
		for i := range 5 {
			assert.Must(w.Insert(ctx, newOrder(fmt.Sprint("n", i), "new", 1)))(t)
			b.WantRequests(t, map[string]int{"Table.Batch": 1}) // the message is not delivered yet
		}
		other := w.again(t, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		assert.Must(other.Insert(ctx, newOrder("2", "new", 1)))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Queue.Put": 1, "Table.Batch": 1})
		r.run(t, 7)
		b.ResetRequests()
		assert.Must(w.Put(ctx, newOrder("2", "new", 2)))(t) // the epoch was closed: the root is read, and a message put
		b.WantRequests(t, map[string]int{"Table.Get": 2, "Queue.Put": 1, "Table.Batch": 1})
	})
}

func TestTheRequestsOfADelivery(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		harness.WithoutTargets(b.Account)
		r := newReader(t, b, "search")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		w.changes.Handle(r.worker, r.Feed, r.handle)
		for n, queries := range map[int]int{1: 1, 999: 1, 1000: 2, 1999: 2} {
			assert.Must(w.Insert(ctx, newOrder("first", "new", 1)))(t)
			r.run(t, 1)
			var many []patterns.StoreOp[order]
			for i := range n {
				many = append(many, patterns.InsertEntity(newOrder(fmt.Sprintf("%d-%d", n, i), "new", i)))
			}
			report := assert.Must(w.Bulk(ctx, slices.Values(many), nil))(t)
			assert.Equal(t, report.Done, n)
			lag := assert.Must(w.changes.Lag(ctx, r.Feed, "shop"))(t)
			assert.Equal(t, lag.Changes, n)
			b.ResetRequests()
			r.run(t, n)
			// The position, the lease, the position again, closing, reading, the position, the end of the lease.
			log := b.Requests()
			got := fmt.Sprint(log.Count("Table.Get"), log.Count("Table.Replace"), log.Count("Table.Batch"), log.Count("Table.Query"), log.Count("Table.*"))
			assert.Equal(t, got, fmt.Sprint(3, 3, 1, queries, 7+queries), n, "changes")
			assert.NoError(t, w.Delete(ctx, at("first")))
			r.run(t, 1)
		}
	})
}
