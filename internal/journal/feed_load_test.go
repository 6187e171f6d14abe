package journal_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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
	"github.com/azpatterns/azpatterns/query"
)

var loadChanges = flag.Int("feed.changes", 1600, "the number of changes of TestAFeedUnderLoad")

// 16 programs change entities of 64 partitions, while workers are killed and started again.
func TestAFeedUnderLoad(t *testing.T) {
	const writers, partitions, rows = 16, 64, 20
	changes, kills := *loadChanges, max(10, *loadChanges/2200)
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		account := storagetest.New(t)
		harness.WithoutTargets(account)
		each, view := newReceived(), newReceived()
		seed := rand.Uint64()
		t.Logf("seed %d, %d changes", seed, changes)
		open := func(n int) *node {
			p := &harness.Process{Inner: harness.Inner(account), Decide: func(string, string) harness.Fate { return harness.Fate{Before: 5 * time.Millisecond} }}
			return openNode(t.Errorf, p, true, 3, journal.After, each, view, rand.New(rand.NewPCG(seed, uint64(n))))
		}
		setup := open(0)
		assert.NoError(t, setup.create(ctx))
		var writing, reading sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				n, random := open(w+1), rand.New(rand.NewPCG(seed, uint64(w+1000)))
				for i := range changes / writers {
					key := keys.Key{Partition: fmt.Sprint("p", random.IntN(partitions)), Row: fmt.Sprint("r", random.IntN(rows))}
					var err error
					if random.IntN(4) == 0 {
						err = n.store.Delete(ctx, key)
					} else {
						_, err = n.store.Put(ctx, &page{PartitionKey: key.Partition, RowKey: key.Row, Text: fmt.Sprint(w, ".", i)})
					}
					if err != nil && !errors.Is(err, patterns.ErrNotFound) && !errors.Is(err, patterns.ErrConflict) {
						t.Errorf("%v", err)
					}
				}
			})
		}
		readers, stop := context.WithCancel(ctx)
		var mu sync.Mutex
		killed := 0
		for w := range 5 {
			reading.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(w+2000)))
				for i := 0; readers.Err() == nil; i++ {
					n := open(10_000*(w+1) + i)
					life, end := context.WithTimeout(readers, time.Duration(1+random.IntN(20_000))*time.Millisecond)
					mu.Lock()
					if killed++; killed > kills {
						end()
						life, end = context.WithCancel(readers)
					}
					mu.Unlock()
					var running sync.WaitGroup
					for _, worker := range n.workers {
						running.Go(func() { _ = worker.Run(life) })
					}
					<-life.Done()
					n.Kill()
					end()
					running.Wait()
				}
			})
		}
		writing.Wait()
		time.Sleep(30 * time.Minute)
		stop()
		reading.Wait()
		assert.NoError(t, setup.empty(ctx))
		total := 0
		for p := range partitions {
			for r := range rows {
				key := keys.Key{Partition: fmt.Sprint("p", p), Row: fmt.Sprint("r", r)}
				var all []journal.Change[page]
				for c, err := range setup.changes.History(ctx, key, nil) {
					assert.NoError(t, err)
					all = append([]journal.Change[page]{c}, all...)
				}
				total += len(all)
				got := each.first[key]
				assert.Equal(t, len(got), len(all), "deliveries of", key)
				for i := range all {
					assert.Equal(t, got[i].Version, all[i].Version, "delivery", i, "of", key)
				}
			}
		}
		stored := map[keys.Key]string{}
		for item, err := range setup.store.Query(ctx, query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
			assert.NoError(t, err)
			stored[item.Key] = item.Value.Text
		}
		seen := map[keys.Key]string{}
		for key, c := range view.view {
			if c.After != nil {
				seen[key] = c.After.Text
			}
		}
		assert.EqualMaps(t, seen, stored, "the view")
		t.Logf("%d changes, %d workers were killed, %d and %d deliveries", total, min(killed, kills), each.times, view.times)
	})
}
