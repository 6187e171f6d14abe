package largeentity_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// grown returns the entity of version n: every part of it depends on n.
func grown(n int32) employee {
	e := newJones(fmt.Sprint(n), large)
	e.Age, e.Notes = n, fmt.Sprintf("%0*d", 40000, n)
	return *e
}

func grow(e *employee) error { *e = grown(e.Age + 1); return nil }

// With concurrent writers, readers and sweeps, each update is applied once, and no reader
// receives parts of two versions.
func TestReadersNeverReceiveAMixOfVersions(t *testing.T) {
	const writers, updates = 3, 4
	race := func(t *testing.T, table table, readers int, pause func(), sweep func()) {
		ctx := t.Context()
		first := grown(0)
		assert.Must(table.Insert(ctx, &first))(t)
		var work, look sync.WaitGroup
		done := make(chan struct{})
		for range writers {
			work.Go(func() {
				for range updates {
					assert.Equal(t, assert.ErrorOf(table.Update(ctx, jones, grow)), nil)
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
		item := assert.Must(table.Get(ctx, jones))(t)
		if !same(item.Value, grown(writers*updates)) {
			t.Errorf("version %d after %d updates", item.Value.Age, writers*updates)
		}
	}
	t.Run("every backend", func(t *testing.T) {
		harness.Run(t, func(t *testing.T, b *harness.Backend) {
			table := onBed(t, b, &largeentity.Options[employee]{Tries: 100})
			race(t, table, 2, func() {}, nil)
		})
	})
	// In virtual time many grace periods pass.
	t.Run("swept", func(t *testing.T) {
		opts := &largeentity.Options[employee]{Tries: 100, Grace: 4 * time.Minute}
		inVirtualTime(t, opts, func(t *testing.T, acct *storagetest.Account, table table) {
			acct.Fault(storagetest.On("*").Probability(0.3).DelayReply(20 * time.Second))
			swept := 0
			race(t, table, 2, func() { time.Sleep(10 * time.Second) }, func() {
				r := assert.Must(table.Sweep(t.Context(), nil))(t)
				swept += r.Done - r.Marked
				time.Sleep(time.Minute)
			})
			acct.ClearFaults()
			for range 2 {
				time.Sleep(time.Hour)
				r := assert.Must(table.Sweep(t.Context(), nil))(t)
				swept += r.Done - r.Marked
			}
			if names := stored(t, table.Container()); len(names) != 2 || swept == 0 {
				t.Errorf("%d blobs, %d swept", len(names), swept)
			}
		})
	})
}

// A sweep never deletes a blob between its upload and the write of its row, however slow the
// writer and its requests are: the writer is in time, or it fails.
func TestASlowWriterSucceedsInTimeOrFails(t *testing.T) {
	for _, c := range []struct {
		rule  storagetest.Rule
		fails bool
	}{
		{storagetest.On("Blob.Put").DelayReply(11 * time.Hour), false},
		{storagetest.On("Blob.Put").Delay(10 * time.Minute), false},
		{storagetest.On("Blob.Put").DelayReply(13 * time.Hour), true},
		{storagetest.On("Blob.Put").DelayReply(40 * day), true},
		{storagetest.On("Table.Replace").Delay(10 * time.Minute), false},
		{storagetest.On("Table.Replace").DelayReply(11 * time.Hour), false},
		{storagetest.On("Table.Replace").Delay(40 * day), true},
		{storagetest.On("Table.Replace").DelayReply(40 * day), true}, // although the row was written
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
				ctx := t.Context()
				item := assert.Must(table.Insert(ctx, newJones("a", large)))(t)
				stop := make(chan struct{})
				swept := make(chan struct{})
				go func() {
					defer close(swept)
					for {
						select {
						case <-stop:
							return
						case <-time.After(time.Hour):
							assert.Must(table.Sweep(ctx, nil))(t)
						}
					}
				}()
				acct.Fault(c.rule)
				item.Value.Photo = noise("b", large)
				_, err := table.Replace(ctx, item)
				assert.Equal(t, (err != nil), c.fails, err)
				if err != nil && !errors.Is(err, largeentity.ErrTooSlow) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("got %v", err)
				}
				acct.ClearFaults()
				time.Sleep(5 * day)
				close(stop)
				<-swept
				got := assert.Must(table.Get(ctx, jones))(t)
				if a, b := newJones("a", large), newJones("b", large); !same(got.Value, *a) && !same(got.Value, *b) || err == nil && !same(got.Value, *b) {
					t.Error("the photo is neither the old nor the new one")
				}
				if names := stored(t, table.Container()); len(names) != 1 {
					t.Errorf("blobs %v", names)
				}
			})
		})
	}
}
