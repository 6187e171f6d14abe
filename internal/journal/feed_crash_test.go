package journal_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A program that writes, or delivers, or sweeps, dies before or after each of its requests. Another one goes on.
func TestAFeedAfterACrashAtAnyRequest(t *testing.T) {
	write := func(ctx context.Context, n *node) {
		insert := func() { _, _ = n.store.Insert(ctx, &page{PartitionKey: "p", RowKey: "a", Text: "1"}) }
		insert()
		_, _ = n.store.Put(ctx, &page{PartitionKey: "p", RowKey: "a", Text: "2"})
		_ = n.store.Delete(ctx, keys.Key{Partition: "p", Row: "a"})
		time.Sleep(2 * time.Second) // longer than Delay: the epoch may be closed
		insert()
		_, _ = n.store.Batch().Insert(&page{PartitionKey: "p", RowKey: "b", Text: "3"}).Insert(&page{PartitionKey: "p", RowKey: "c", Text: "4"}).Commit(ctx)
	}
	work := func(ctx context.Context, n *node) { n.work(ctx, 20*time.Second) }
	sweep := func(ctx context.Context, n *node) {
		_, _ = n.changes.Sweep(ctx, nil)
		_, _ = n.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: time.Minute})
	}
	for name, c := range map[string]struct{ before, dies func(context.Context, *node) }{
		"of a writer":            {nil, write},
		"of a writer afterwards": {func(ctx context.Context, n *node) { write(ctx, n); work(ctx, n) }, write},
		"of a worker":            {write, work},
		"of a sweep":             {func(ctx context.Context, n *node) { write(ctx, n); n.clear(ctx) }, sweep},
	} {
		t.Run(name, func(t *testing.T) {
			for _, accelerated := range []bool{false, true} {
				for _, after := range []bool{false, true} {
					at := 1
					for crashAt(t, accelerated, after, at, c.before, c.dies) {
						at++
					}
					if at < 8 {
						t.Errorf("it made %d requests", at-1)
					}
				}
			}
		})
	}
}

// crashAt lets a program die at one of its requests, and reports whether it had so many.
func crashAt(t *testing.T, accelerated, after bool, at int, before, dies func(context.Context, *node)) (died bool) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		account := storagetest.New(t)
		harness.WithoutTargets(account)
		each, view := newReceived(), newReceived()
		open := func(p *harness.Process) *node {
			p.Inner = harness.Inner(account)
			return openNode(t.Errorf, p, accelerated, 0, journal.BeforeAndAfter, each, view, rand.New(always{}))
		}
		setup := open(new(harness.Process))
		assert.NoError(t, setup.create(ctx))
		if before != nil {
			before(ctx, setup)
		}
		var mu sync.Mutex
		requests := 0
		victim := open(&harness.Process{Decide: func(string, string) harness.Fate {
			mu.Lock()
			defer mu.Unlock()
			if requests++; requests != at {
				return harness.Fate{}
			}
			if died = true; after {
				return harness.Fate{Dies: true}
			}
			return harness.Fate{Dies: true, What: harness.RequestLost}
		}})
		dies(ctx, victim)
		time.Sleep(time.Minute) // a lease ends
		heir := open(new(harness.Process))
		_, err := heir.changes.Sweep(ctx, nil)
		assert.NoError(t, err)
		_, err = heir.store.Put(ctx, &page{PartitionKey: "p", RowKey: "a", Text: "last"})
		assert.NoError(t, err)
		heir.work(ctx, 2*time.Minute)
		assert.NoError(t, setup.empty(ctx), "request", at)
		checkFeed(ctx, t.Errorf, heir, []string{"a", "b", "c"}, each, view)
		if t.Failed() {
			t.Logf("it died at request %d, %t", at, after)
		}
	})
	return died && !t.Failed()
}

// always is a source whose numbers are the greatest, so that no handler refuses.
type always struct{}

func (always) Uint64() uint64 { return 1<<64 - 1 }

// work runs the workers of a program, which dies at the end.
func (n *node) work(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var running sync.WaitGroup
	for _, w := range n.workers {
		running.Go(func() { _ = w.Run(ctx) })
	}
	running.Wait()
}
