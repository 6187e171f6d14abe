package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
)

// received is what a feed has delivered: the model of a consumer.
type received struct {
	sync.Mutex
	first map[keys.Key][]journal.Change[page] // in the order in which they were delivered first
	view  map[keys.Key]journal.Change[page]   // the last one that was not ignored
	times int
}

func newReceived() *received {
	return &received{first: map[keys.Key][]journal.Change[page]{}, view: map[keys.Key]journal.Change[page]{}}
}

func (r *received) deliver(c journal.Change[page]) {
	r.Lock()
	defer r.Unlock()
	r.times++
	known := false
	for _, earlier := range r.first[c.Key] {
		known = known || earlier.Version == c.Version
	}
	if !known {
		r.first[c.Key] = append(r.first[c.Key], c)
	}
	if c.Version > r.view[c.Key].Version {
		r.view[c.Key] = c
	}
}

var errRefuses = errors.New("the consumer refuses")

// node is one process of a schedule: it writes, sweeps, and handles two feeds.
type node struct {
	*harness.Process
	store   *patterns.Store[page]
	changes *journal.Changes[page]
	workers []*eventual.Worker
}

func openNode(failf func(format string, args ...any), p *harness.Process, accelerated bool, retries int32, content journal.Content, each, view *received, random *rand.Rand) (n *node) {
	n = &node{Process: p}
	must := func(err error) {
		if err != nil {
			failf("setup: %v", err)
		}
	}
	var feeds []*journal.Feed
	for _, name := range []string{"each", "view"} {
		queue, err := p.Queue(name, retries)
		must(err)
		poison, err := p.Queue(name+"-poison", retries)
		must(err)
		feed, err := journal.NewFeed(queue, name, &journal.FeedOptions{Delay: time.Duration(1+random.IntN(20)) * time.Second})
		must(err)
		w, err := eventual.NewWorker(queue, &eventual.Options{Poison: poison, Tries: 100_000, PollMax: 10 * time.Second, Grace: time.Second, Backoff: func(int) time.Duration { return 5 * time.Second }})
		must(err)
		feeds, n.workers = append(feeds, feed), append(n.workers, w)
	}
	service, err := p.Tables(accelerated, retries)
	must(err)
	table, err := patterns.NewTable[page](service.NewClient("pages"), nil)
	must(err)
	j := journal.Of("journal", &journal.Options[page]{Content: content, Feeds: feeds, FeedKeep: 3 * time.Hour})
	n.store, err = patterns.NewStore(table, &patterns.StoreOptions[page]{Views: []patterns.View[page]{j}})
	must(err)
	n.changes = j.On(n.store)
	var mu sync.Mutex
	refuses := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return p.Dead() || random.IntN(10) == 0
	}
	n.changes.Handle(n.workers[0], feeds[0], func(_ context.Context, c journal.Change[page]) error {
		if refuses() {
			return errRefuses
		}
		if each.deliver(c); refuses() {
			return errRefuses
		}
		return nil
	})
	n.changes.HandleView(n.workers[1], feeds[1], func(_ context.Context, key keys.Key, entity *page, v journal.Version) error {
		if refuses() {
			return errRefuses
		}
		view.deliver(journal.Change[page]{Key: key, Version: v, After: entity})
		return nil
	})
	return n
}

// create creates the table and the queues.
func (n *node) create(ctx context.Context) error {
	errs := []error{n.store.Create(ctx)}
	for _, name := range []string{"each", "view", "each-poison", "view-poison"} {
		q, err := n.Queue(name, 0)
		if err == nil {
			_, err = q.Create(ctx, nil)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// empty fails if a queue has messages.
func (n *node) empty(ctx context.Context) (err error) {
	for _, name := range []string{"each", "view", "each-poison", "view-poison"} {
		q, failed := n.Queue(name, 0)
		if failed == nil {
			var p azqueue.GetQueuePropertiesResponse
			if p, failed = q.GetProperties(ctx, nil); failed == nil && *p.ApproximateMessagesCount > 0 {
				failed = fmt.Errorf("%s has messages", name)
			}
		}
		err = errors.Join(err, failed)
	}
	return err
}

// clear deletes the messages of the feeds.
func (n *node) clear(ctx context.Context) {
	for _, name := range []string{"each", "view"} {
		if q, err := n.Queue(name, 0); err == nil {
			_, _ = q.ClearMessages(ctx, nil)
		}
	}
}

// TestAFeedDeliversTheHistoryOfEachEntity runs programs that change the same entities, and workers of two feeds, while requests and replies are
// lost or late, handlers fail, messages vanish, and processes are killed or paused.
func TestAFeedDeliversTheHistoryOfEachEntity(t *testing.T) {
	harness.Schedules(t, []string{"plain", "accelerated"}, 10, func(ctx context.Context, mode string, s *harness.Schedule) {
		if s.IntN(4) > 0 {
			s.DrawFaults(14 * time.Minute)
		}
		s.Faults.PauseTime = 20 * time.Minute // less than the changes are kept
		harness.WithoutTargets(s.Account)
		content := []journal.Content{journal.BeforeAndAfter, journal.After, journal.KeyOnly}[s.IntN(3)]
		retries, accelerated := int32(s.IntN(3))-1, mode == "accelerated"
		each, view := newReceived(), newReceived()
		open := func(p *harness.Process, n int) *node {
			return openNode(s.Failf, p, accelerated, retries, content, each, view, rand.New(rand.NewPCG(s.Seed, uint64(n))))
		}
		setup := open(s.Reliable(), 0)
		if err := setup.create(ctx); err != nil {
			s.Failf("setup: %w", err)
			return
		}
		o := outcomes{swept: map[keys.Key]map[journal.Version]journal.Change[page]{}}
		rows := []string{"a", "b", "c"}[:1+s.IntN(3)]
		var writing, reading sync.WaitGroup
		for w := range 1 + s.IntN(3) {
			changes := 1 + s.IntN(8)
			n := open(s.Process(w+1), w+1)
			for g := range 1 + s.IntN(2) { // goroutines of the same process
				writing.Go(func() {
					n := n
					random := rand.New(rand.NewPCG(s.Seed, uint64(w+1+100*g)))
					for i := range changes {
						if n.Dead() {
							number := 100*(w+1) + 50*g + i
							n = open(s.Process(number), number)
						}
						if random.IntN(3) == 0 {
							time.Sleep(time.Duration(random.IntN(60)) * time.Second)
						}
						change(ctx, &o, n.store, random, rows, fmt.Sprintf("%d.%d.%d", w, g, i))
					}
				})
			}
		}
		lost := s.IntN(3) == 0 // the messages are, and a sweep puts them again
		readers, stop := context.WithCancel(ctx)
		for w := range 1 + s.IntN(3) {
			random := rand.New(rand.NewPCG(s.Seed, uint64(w+51)))
			reading.Go(func() {
				for i := 0; readers.Err() == nil; i++ {
					n := open(s.Process(1000*(w+1)+i), 1000*(w+1)+i)
					life, end := context.WithTimeout(readers, time.Duration(1+random.IntN(300))*time.Second)
					var running sync.WaitGroup
					for _, worker := range n.workers {
						running.Go(func() { _ = worker.Run(life) })
					}
					if lost && random.IntN(3) == 0 {
						_, _ = n.changes.Sweep(life, &patterns.SweepOptions{OlderThan: 100 * time.Hour})
					}
					<-life.Done()
					n.Kill()
					end()
					running.Wait()
				}
			})
		}
		if lost {
			time.Sleep(time.Duration(s.IntN(100)) * time.Second)
			setup.clear(ctx)
		}
		writing.Wait()
		time.Sleep(time.Duration(s.IntN(20)) * time.Minute)
		stop()
		reading.Wait()
		s.WaitLate()
		final := s.Reliable()
		final.Log = func(text string) { s.Log("final: %s", text) }
		last := open(final, 99)
		if lost {
			if r, err := last.changes.Sweep(ctx, nil); err != nil || r.Failed > 0 {
				s.Failf("sweep: %v, %w", r.Failures, err)
			}
		}
		finish, end := context.WithTimeout(ctx, 30*time.Minute)
		defer end()
		for _, worker := range last.workers {
			reading.Go(func() { _ = worker.Run(finish) })
		}
		reading.Wait()
		if err := setup.empty(ctx); err != nil {
			s.Failf("%w", err)
		}
		checkFeed(ctx, s.Failf, last, rows, each, view)
	})
}

// checkFeed compares what was delivered with the history, and the view with the table.
func checkFeed(ctx context.Context, failf func(format string, args ...any), n *node, rows []string, each, view *received) {
	for _, row := range rows {
		key := keys.Key{Partition: "p", Row: row}
		var all []journal.Change[page]
		for c, err := range n.changes.History(ctx, key, nil) {
			if err != nil {
				failf("%w", err)
				return
			}
			all = append([]journal.Change[page]{c}, all...)
		}
		got := each.first[key]
		for i := range max(len(all), len(got)) {
			switch {
			case i >= len(got):
				failf("%s: change %d, %s, was not delivered", row, i, all[i].Version)
			case i >= len(all):
				failf("%s: %s was delivered, and is not in the history", row, got[i].Version)
			case got[i].Version != all[i].Version || got[i].Event != all[i].Event || !equal(got[i].Before, all[i].Before) || !equal(got[i].After, all[i].After):
				failf("%s: delivery %d is %s %v, the history has %s %v", row, i, got[i].Version, got[i].Event, all[i].Version, all[i].Event)
			default:
				continue
			}
			return
		}
		item, err := n.store.Get(ctx, key)
		var stored *page
		if err == nil {
			stored = &item.Value
		} else if !errors.Is(err, patterns.ErrNotFound) {
			failf("%w", err)
		}
		if now := view.view[key].After; !equal(stored, now) {
			failf("%s: stored is %v, the view has %v", row, stored, now)
		}
	}
}
