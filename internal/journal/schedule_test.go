package journal_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
)

// page is an entity whose text no two changes have in common.
type page struct {
	PartitionKey, RowKey string
	Text                 string
}

// outcomes has the texts of changes whose outcome is known.
type outcomes struct {
	sync.Mutex
	applied, refused []string
	sweeps           bool
	swept            map[keys.Key]map[journal.Version]journal.Change[page]
}

// sweep deletes old changes, after it has remembered them. It makes its requests in no time.
func (o *outcomes) sweep(ctx context.Context, s *harness.Schedule, changes *journal.Changes[page], rows []string) {
	o.Lock()
	defer o.Unlock()
	for _, row := range rows {
		o.history(ctx, s, changes, keys.Key{Partition: "p", Row: row})
	}
	if r, err := changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: time.Minute}); err != nil || r.Failed > 0 {
		s.Failf("sweep: %v, %w", r.Failures, err)
	}
}

// history returns all changes of an entity, also those that were swept, the oldest first.
func (o *outcomes) history(ctx context.Context, s *harness.Schedule, changes *journal.Changes[page], key keys.Key) (all []journal.Change[page]) {
	if o.swept[key] == nil {
		o.swept[key] = map[journal.Version]journal.Change[page]{}
	}
	for c, err := range changes.History(ctx, key, nil) {
		if err != nil {
			s.Failf("%w", err)
			return nil
		}
		o.swept[key][c.Version] = c
	}
	for _, version := range slices.Sorted(maps.Keys(o.swept[key])) {
		all = append(all, o.swept[key][version])
	}
	return all
}

func (o *outcomes) add(text string, err error) {
	o.Lock()
	defer o.Unlock()
	switch {
	case err == nil:
		o.applied = append(o.applied, text)
	case !errors.Is(err, patterns.ErrOutcomeUnknown) && !errors.Is(err, harness.ErrDead):
		o.refused = append(o.refused, text)
	}
}

// TestTheHistoryOfEachEntityIsWhatHappened runs programs that change the same entities, while others close epochs, requests and replies
// are lost or late, and processes are killed or paused.
func TestTheHistoryOfEachEntityIsWhatHappened(t *testing.T) {
	harness.Schedules(t, []string{"plain", "accelerated"}, 40, func(ctx context.Context, mode string, s *harness.Schedule) {
		if s.IntN(4) > 0 {
			s.DrawFaults(14 * time.Minute)
		}
		content := []journal.Content{journal.After, journal.BeforeAndAfter}[s.IntN(2)]
		view := journal.Of("journal", &journal.Options[page]{Content: content})
		retries := int32(s.IntN(3)) - 1
		open := func(p *harness.Process) *patterns.Store[page] {
			service, err := p.Tables(mode == "accelerated", retries)
			var table *patterns.Table[page]
			if err == nil {
				table, err = patterns.NewTable[page](service.NewClient("pages"), nil)
			}
			var store *patterns.Store[page]
			if err == nil {
				store, err = patterns.NewStore(table, &patterns.StoreOptions[page]{Views: []patterns.View[page]{view}})
			}
			if err != nil {
				s.Failf("setup: %w", err)
			}
			return store
		}
		setup := open(s.Reliable())
		if err := setup.Create(ctx); err != nil {
			s.Failf("setup: %w", err)
			return
		}
		o := outcomes{swept: map[keys.Key]map[journal.Version]journal.Change[page]{}, sweeps: s.IntN(2) == 0}
		var running sync.WaitGroup
		rows := []string{"a", "b", "c"}[:1+s.IntN(3)]
		for w := range 1 + s.IntN(4) {
			random, changes := rand.New(rand.NewPCG(s.Seed, uint64(w+1))), 1+s.IntN(8)
			running.Go(func() {
				p := s.Process(w + 1)
				store := open(p)
				for n := range changes {
					if p.Dead() {
						p = s.Process(100*(w+1) + n)
						store = open(p)
					}
					if random.IntN(4) == 0 {
						time.Sleep(time.Duration(random.IntN(180)) * time.Second)
					}
					change(ctx, &o, store, random, rows, fmt.Sprintf("%d.%d", w, n))
				}
			})
		}
		for c := range s.IntN(3) {
			random, closes := rand.New(rand.NewPCG(s.Seed, uint64(c+51))), s.IntN(5)
			running.Go(func() {
				store := open(s.Process(c + 51))
				for range closes {
					time.Sleep(time.Duration(random.IntN(200)) * time.Second)
					if o.sweeps && random.IntN(2) == 0 {
						o.sweep(ctx, s, view.On(setup), rows)
						continue
					}
					_ = store.Engine().Journal.CloseNow(ctx, "p") // it may fail
				}
			})
		}
		running.Wait()
		s.WaitLate()
		checkHistory(ctx, s, setup, view, rows, content, &o)
	})
}

// change makes a random change of one or two entities.
func change(ctx context.Context, o *outcomes, store *patterns.Store[page], random *rand.Rand, rows []string, text string) {
	row := rows[random.IntN(len(rows))]
	v := &page{PartitionKey: "p", RowKey: row, Text: text}
	key := keys.Key{Partition: "p", Row: row}
	switch random.IntN(6) {
	case 0:
		_, err := store.Insert(ctx, v)
		o.add(text, err)
	case 1:
		_, err := store.Put(ctx, v)
		o.add(text, err)
	case 2:
		_, err := store.Update(ctx, key, func(p *page) error { p.Text = text; return nil })
		o.add(text, err)
	case 3:
		_ = store.Delete(ctx, key) // what it deleted is in the history
	case 4:
		if item, err := store.Get(ctx, key); err == nil {
			_, err = store.PutItem(ctx, item, v)
			o.add(text, err)
		}
	case 5:
		b := store.Batch()
		for i, r := range rows {
			b.Put(&page{PartitionKey: "p", RowKey: r, Text: fmt.Sprint(text, "-", i)})
		}
		_, err := b.Commit(ctx)
		for i := range rows {
			o.add(fmt.Sprint(text, "-", i), err)
		}
	}
}

// checkHistory compares the history of each entity with what the programs know, and with the table.
func checkHistory(ctx context.Context, s *harness.Schedule, store *patterns.Store[page], view *journal.Journal[page], rows []string, content journal.Content, o *outcomes) {
	seen := map[string]int{}
	for _, row := range rows {
		key := keys.Key{Partition: "p", Row: row}
		all := o.history(ctx, s, view.On(store), key)
		var now *page
		last := journal.Version("")
		for i, c := range all {
			if c.Version <= last {
				s.Failf("%s: version %s after %s", row, c.Version, last)
			}
			if last = c.Version; c.After != nil {
				// A process that was paused until its change was swept does not find that it was applied.
				if seen[c.After.Text]++; seen[c.After.Text] > 1 && !o.sweeps {
					s.Failf("%s is in the history twice", c.After.Text)
				}
			}
			if want := c.Event == journal.Inserted; want != (now == nil) {
				s.Failf("%s: change %d is %v, and the entity before is %v", row, i, c.Event, now)
			}
			if before := content == journal.BeforeAndAfter || c.Event == journal.Deleted; before && !equal(c.Before, now) {
				s.Failf("%s: change %d has %v before, want %v", row, i, c.Before, now)
			}
			if now = c.After; (now == nil) != (c.Event == journal.Deleted) {
				s.Failf("%s: change %d is %v, and has %v", row, i, c.Event, now)
			}
		}
		item, err := store.Get(ctx, key)
		var stored *page
		if err == nil {
			stored = &item.Value
		} else if !errors.Is(err, patterns.ErrNotFound) {
			s.Failf("%w", err)
		}
		if !equal(stored, now) {
			s.Failf("%s: stored is %v, the history ends with %v", row, stored, now)
		}
	}
	for _, text := range o.applied {
		if seen[text] == 0 {
			s.Failf("the history lacks %s", text)
		}
	}
	for _, text := range o.refused {
		if seen[text] > 0 {
			s.Failf("the history has %s, which was refused", text)
		}
	}
}

func equal(a, b *page) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Text == b.Text
}
