package journal_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// reader is a feed with a worker, which sends what it delivers.
type reader struct {
	*journal.Feed
	queue, poison *azqueue.QueueClient
	worker        *eventual.Worker

	mu        sync.Mutex
	delivered []string
	changed   chan struct{} // receives if something was delivered
}

func newReader(t testing.TB, b *harness.Backend, name string) *reader {
	t.Helper()
	r := &reader{queue: b.Queue(t), poison: b.Queue(t), changed: make(chan struct{}, 1)}
	r.Feed = assert.Must(journal.NewFeed(r.queue, name, nil))(t)
	r.worker = assert.Must(eventual.NewWorker(r.queue, &eventual.Options{
		Poison: r.poison, PollMin: 5 * time.Millisecond, PollMax: 50 * time.Millisecond, Tries: 2, Backoff: func(int) time.Duration { return 0 },
	}))(t)
	return r
}

func (r *reader) add(text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delivered = append(r.delivered, text)
	select {
	case r.changed <- struct{}{}:
	default:
	}
	return nil
}

func (r *reader) handle(_ context.Context, c journal.Change[order]) error {
	text := c.Key.Row + " " + c.Event.String()
	if c.After != nil {
		text += " " + c.After.State
	}
	return r.add(text)
}

// run runs the worker until n changes were delivered, or the test fails.
func (r *reader) run(t testing.TB, n int) string {
	t.Helper()
	r.until(t, func() bool { return len(r.delivered) >= n })
	return r.all()
}

func (r *reader) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.delivered = nil }()
	return fmt.Sprint(r.delivered)
}

// until runs the worker until a condition is true.
func (r *reader) until(t testing.TB, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.worker.Run(ctx) }()
	for {
		r.mu.Lock()
		ok := done()
		r.mu.Unlock()
		if ok {
			break
		}
		select {
		case <-r.changed:
		case err := <-ended:
			t.Fatalf("the worker ended: %v", err)
		}
	}
	cancel()
	<-ended
}

func TestAFeedDeliversEachChangeInOrder(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		r := newReader(t, b, "search")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		w.changes.Handle(r.worker, r.Feed, r.handle)
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "paid", 1)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "sent", 1)))(t)
		lag := assert.Must(w.changes.Lag(ctx, r.Feed, "shop"))(t)
		assert.Equal(t, lag.Changes, 3)
		assert.Equal(t, r.run(t, 3), "[1 inserted new 1 updated paid 1 updated sent]")
		assert.NoError(t, w.Delete(ctx, at("1")))
		assert.Must(w.Insert(ctx, newOrder("1", "again", 1)))(t)
		assert.Equal(t, r.run(t, 2), "[1 deleted 1 inserted again]")
		lag = assert.Must(w.changes.Lag(ctx, r.Feed, "shop"))(t)
		assert.Equal(t, lag, journal.Lag{})
	})
}

var errBroken = errors.New("the index is broken")

// A feed that fails delays its own partition only: its message is parked, and the next one begins with the same change.
func TestAFeedThatFailsSkipsNothing(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		r, other := newReader(t, b, "search"), newReader(t, b, "cache")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed, other.Feed}, FeedKeep: time.Hour})
		w.changes.Handle(other.worker, other.Feed, other.handle)
		broken, failed := true, 0
		w.changes.Handle(r.worker, r.Feed, func(ctx context.Context, c journal.Change[order]) error {
			if c.Key == at("2") && broken {
				if failed++; failed%2 == 0 {
					return errors.Join(errBroken, r.add("parked"))
				}
				return errBroken
			}
			return r.handle(ctx, c)
		})
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		assert.Must(w.Insert(ctx, newOrder("2", "new", 1)))(t)
		assert.Equal(t, r.run(t, 2), "[1 inserted new parked]")
		assert.Equal(t, assert.Must(w.changes.Lag(ctx, r.Feed, "shop"))(t).Changes, 1) // the position is within the epoch
		assert.Must(w.Insert(ctx, &order{PartitionKey: "elsewhere", RowKey: "3", State: "new"}))(t)
		assert.Equal(t, r.run(t, 1), "[3 inserted new]")
		assert.Must(w.Insert(ctx, newOrder("4", "new", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[parked]")
		assert.Equal(t, len(other.run(t, 4)), len("[1 inserted new 2 inserted new 3 inserted new 4 inserted new]"))

		broken = false
		q := assert.Must(eventual.NewPoisonQueue(r.queue, r.poison, nil))(t)
		parked := 0
		for m, err := range q.Take(ctx) {
			parked++
			assert.NoError(t, err)
			assert.NoError(t, q.Replay(ctx, m))
		}
		assert.Equal(t, parked, 2)
		assert.Equal(t, r.run(t, 2), "[2 inserted new 4 inserted new]")
	})
}

func TestAViewOutsideTablesGetsTheLastChange(t *testing.T) {
	for _, content := range []journal.Content{journal.After, journal.KeyOnly} {
		harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
			ctx := t.Context()
			r := newReader(t, b, "search")
			w := newWorld(t, b, &journal.Options[order]{Content: content, Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
			w.changes.HandleView(r.worker, r.Feed, func(_ context.Context, key keys.Key, o *order, v journal.Version) error {
				if o == nil {
					return r.add(key.Row + " -")
				}
				return r.add(key.Row + " " + o.State)
			})
			for _, state := range []string{"new", "paid", "sent"} {
				assert.Must(w.Put(ctx, newOrder("1", state, 1)))(t)
				assert.Must(w.Put(ctx, newOrder("2", state, 1)))(t)
			}
			assert.NoError(t, w.Delete(ctx, at("2")))
			if got := r.run(t, 2); got != "[1 sent 2 -]" && got != "[2 - 1 sent]" {
				t.Error(got)
			}
		})
	}
}

func TestAFeedStartsWithASnapshotOrNow(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		old := harness.NewTable[order](t, b.Table(t), nil)
		for i := range 3 {
			assert.Must(old.Insert(ctx, newOrder(fmt.Sprint(i), "old", i)))(t)
		}
		r := newReader(t, b, "search")
		j := journal.Of("journal", &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		store := harness.NewStore(t, old.Client(), &patterns.StoreOptions[order]{Views: []patterns.View[order]{j}})
		changes := j.On(store)
		changes.Handle(r.worker, r.Feed, r.handle)
		report := assert.Must(changes.Start(ctx, r.Feed, journal.Snapshot, nil))(t)
		assert.Equal(t, fmt.Sprint(report.Found, report.Done), "1 1")
		assert.Equal(t, r.run(t, 3), "[0 present old 1 present old 2 present old]")
		assert.Must(store.Put(ctx, newOrder("1", "new", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated new]")
		assert.Must(store.Put(ctx, newOrder("1", "skipped", 1)))(t)
		assert.Must(changes.Start(ctx, r.Feed, journal.Now, nil))(t)
		assert.Must(store.Put(ctx, newOrder("1", "last", 1)))(t)
		assert.Equal(t, r.run(t, 1), "[1 updated last]")
	})
}

// Without faults, three workers deliver each change once, and a partition is not delivered by two at a time.
func TestWorkersDivideThePartitions(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		r := newReader(t, b, "search")
		w := newWorld(t, b, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour})
		active := map[string]int{} // deliveries in progress, by partition
		most := 0
		handle := func(_ context.Context, c journal.Change[order]) error {
			r.mu.Lock()
			if active[c.Key.Partition]++; active[c.Key.Partition] > 1 {
				t.Errorf("two workers deliver %s", c.Key.Partition)
			}
			running := 0
			for _, n := range active {
				running += n
			}
			most = max(most, running)
			r.mu.Unlock()
			time.Sleep(300 * time.Millisecond)
			r.mu.Lock()
			active[c.Key.Partition]--
			r.mu.Unlock()
			return r.add(c.Key.Partition + c.Key.Row + " " + c.After.State)
		}
		workers := []*eventual.Worker{r.worker}
		for range 2 {
			workers = append(workers, assert.Must(eventual.NewWorker(r.queue, &eventual.Options{PollMin: 5 * time.Millisecond, PollMax: 50 * time.Millisecond}))(t))
		}
		working, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		for _, worker := range workers {
			w.changes.Handle(worker, r.Feed, handle)
			running.Go(func() { assert.NoError(t, worker.Run(working)) })
		}
		want := map[string]int{}
		for i := range 20 {
			for p := range 3 {
				other := w.again(t, &journal.Options[order]{Feeds: []*journal.Feed{r.Feed}, FeedKeep: time.Hour}) // with messages of its own
				o := &order{PartitionKey: fmt.Sprint("shop", p), RowKey: "1", State: fmt.Sprint(i)}
				assert.Must(other.Put(ctx, o))(t)
				want[fmt.Sprintf("shop%d1 %d", p, i)]++
			}
			time.Sleep(150 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		stop()
		running.Wait()
		got := map[string]int{}
		for _, text := range r.delivered {
			got[text]++
		}
		assert.EqualMaps(t, got, want, "deliveries")
		assert.Equal(t, most > 1, true, "partitions were delivered in parallel")
	})
}

// A feed may close the first epoch of a partition before the change that begins it is committed.
func TestAFeedIsFasterThanTheFirstChange(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, r := newFeedWorld(t, b)
		b.Fault(storagetest.On("Table.Batch").Nth(1).Delay(5 * time.Second))
		var writing sync.WaitGroup
		writing.Go(func() { assert.NoError(t, assert.ErrorOf(w.Insert(t.Context(), newOrder("1", "new", 1)))) })
		r.runFor(t, 20*time.Second)
		writing.Wait()
		assert.Equal(t, r.all(), "[1 inserted new]")
		assert.Equal(t, r.parked(t), "")
	})
}

// A goroutine knows the epoch of a partition that another one is about to begin, and finds no marker. It does not take the marker for lost
// when the root has that epoch afterwards.
func TestAnEpochThatIsAboutToBegin(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, r := newFeedWorld(t, b)
		b.Fault(storagetest.On("Table.Batch").Nth(1).Delay(5*time.Second), storagetest.On("Table.Get").Nth(2).Delay(10*time.Second))
		var writing sync.WaitGroup
		for _, row := range []string{"1", "2"} {
			writing.Go(func() { assert.NoError(t, assert.ErrorOf(w.Insert(t.Context(), newOrder(row, "new", 1)))) })
			time.Sleep(100 * time.Millisecond)
		}
		writing.Wait()
		r.runFor(t, 20*time.Second)
		assert.Equal(t, r.parked(t), "")
		if got := r.all(); got != "[1 inserted new 2 inserted new]" && got != "[2 inserted new 1 inserted new]" {
			t.Error(got)
		}
	})
}
