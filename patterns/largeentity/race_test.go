package largeentity_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// grown is the entity of version n: every part of it tells n.
func grown(n int32) employee {
	e := newJones(fmt.Sprint(n), large)
	e.Age, e.Notes = n, fmt.Sprintf("%0*d", 40000, n)
	return *e
}

func grow(e *employee) error { *e = grown(e.Age + 1); return nil }

// Replacers, readers and sweepers at once: each update counts once, and no reader sees
// parts of two versions.
func TestReadersNeverSeeAMix(t *testing.T) {
	const writers, updates = 3, 4
	race := func(t *testing.T, table table, readers int, pause func(), sweep func()) {
		ctx := t.Context()
		first := grown(0)
		must[largeentity.Item[employee]](t)(table.Insert(ctx, &first))
		var work, look sync.WaitGroup
		done := make(chan struct{})
		for range writers {
			work.Go(func() {
				for range updates {
					if _, err := table.Update(ctx, jones, grow); err != nil {
						t.Error(err)
					}
				}
			})
		}
		loop := func(do func()) {
			look.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						do()
						pause()
					}
				}
			})
		}
		for range readers {
			loop(func() {
				item, err := table.Get(ctx, jones)
				if err != nil {
					t.Error(err)
				} else if !same(item.Value, grown(item.Value.Age)) {
					t.Errorf("a mix of versions, row %d", item.Value.Age)
				}
			})
		}
		if sweep != nil {
			loop(sweep)
		}
		work.Wait()
		close(done)
		look.Wait()
		item := must[largeentity.Item[employee]](t)(table.Get(ctx, jones))
		if !same(item.Value, grown(writers*updates)) {
			t.Errorf("version %d after %d updates", item.Value.Age, writers*updates)
		}
	}
	t.Run("every backend", func(t *testing.T) {
		testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
			table := onBed(t, b, &largeentity.Options[employee]{Tries: 100})
			race(t, table, 2, func() {}, nil)
		})
	})
	// In virtual time the grace time passes again and again.
	t.Run("swept", func(t *testing.T) {
		opts := &largeentity.Options[employee]{Tries: 100, Grace: 4 * time.Minute}
		inVirtualTime(t, opts, func(t *testing.T, acct *storagetest.Account, table table) {
			acct.Fault(storagetest.On("*").Probability(0.3).DelayReply(20 * time.Second))
			swept := 0
			race(t, table, 2, func() { time.Sleep(10 * time.Second) }, func() {
				swept += must[largeentity.SweepReport](t)(table.Sweep(t.Context(), nil)).Deleted
				time.Sleep(time.Minute)
			})
			acct.ClearFaults()
			for range 2 {
				time.Sleep(time.Hour)
				swept += must[largeentity.SweepReport](t)(table.Sweep(t.Context(), nil)).Deleted
			}
			if names := stored(t, table.Container()); len(names) != 2 || swept == 0 {
				t.Errorf("%d blobs, %d swept", len(names), swept)
			}
		})
	})
}
