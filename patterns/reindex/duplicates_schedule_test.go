package reindex_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// Entities share values when a unique index is added. Writers and a process that runs Backfill crash, and
// their requests and replies are lost or late. Meanwhile and afterwards
//
//   - a reader of the index that is not unique finds an entity that nothing changes,
//   - no entity that has taken a value shares it: those that share one have had it all the time,
//   - Backfill stores the row of each value, and lists all entities without a row, with its owner.
func TestDuplicatesWhateverRequestsFailOrArriveLate(t *testing.T) {
	harness.Schedules(t, []string{"intra", "inter"}, 2, func(ctx context.Context, mode string, s *harness.Schedule) {
		d := &duplicateSchedule{Schedule: s, TB: inBubble{t, ctx}, inter: mode == "inter", queue: &harness.OutboxQueue{}}
		service := assert.Must(s.Reliable().Tables(true, 1))(d.TB)
		assert.Must(service.CreateTable(ctx, "mailboxes", nil))(d.TB)
		first := d.open(s.Reliable())
		for i := range 3 + s.IntN(6) { // Age counts how often an entity has taken a value
			assert.Must(first.old.Insert(ctx, &mailbox{"p", fmt.Sprint(i), []string{"v", "w"}[s.IntN(2)], 0}))(d.TB)
		}
		assert.Must(first.old.Insert(ctx, &mailbox{"p", "constant", "v", 0}))(d.TB)
		s.DrawFaults(5 * time.Minute)

		var writers, others sync.WaitGroup
		for range 3 {
			writers.Go(func() { d.write(ctx) })
		}
		running, stop := context.WithCancel(ctx)
		others.Go(func() {
			for running.Err() == nil {
				p, _ := d.next()
				if ok, _ := d.queue.WorkOne(ctx, d.open(p).store, 10*time.Second); !ok {
					_ = sleep(running, time.Second)
				}
				d.read(ctx, first)
			}
		})
		for range 1 + s.IntN(3) {
			p, _ := d.next()
			_, _ = reindex.Backfill(ctx, d.open(p).store, "email", "", nil)
		}
		writers.Wait()
		stop()
		others.Wait()
		s.WaitLate()
		for range 3 { // a record is removed some time after its operation was completed
			for d.queue.Len() > 0 {
				if ok, _ := d.queue.WorkOne(ctx, first.store, time.Minute); !ok {
					time.Sleep(time.Minute)
				}
			}
			if _, err := first.store.Sweep(ctx, nil); err != nil {
				s.Failf("sweep: %w", err)
			}
			time.Sleep(20 * time.Minute)
		}
		d.check(ctx, first)
	})
}

// duplicateSchedule is a run of writers and of Backfill over entities that share values.
type duplicateSchedule struct {
	*harness.Schedule
	testing.TB
	inter     bool
	queue     *harness.OutboxQueue
	processes atomic.Uint64
}

func (d *duplicateSchedule) open(p *harness.Process) *duplicates {
	return openDuplicates(d.TB, assert.Must(p.Tables(true, 1))(d.TB).NewClient("mailboxes"), d.queue, d.inter)
}

// next starts a process with the next number.
func (d *duplicateSchedule) next() (*harness.Process, uint64) {
	number := d.processes.Add(1)
	return d.Process(int(number)), number
}

// write changes random entities, in as many processes as it takes.
func (d *duplicateSchedule) write(ctx context.Context) {
	for n := 0; n < 10; {
		p, number := d.next()
		chance, store := rand.New(rand.NewPCG(d.Seed, number)), d.open(p).store
		for ; n < 10 && !p.Dead(); n++ {
			id, email := fmt.Sprint(chance.IntN(9)), []string{"v", "w", "", "u"}[chance.IntN(4)]
			switch chance.IntN(5) {
			case 0:
				_, _ = store.Insert(ctx, &mailbox{"p", "new" + id, email, 1})
			case 1:
				_ = store.Delete(ctx, mailboxKey("new"+id))
			default:
				_, _ = store.Update(ctx, mailboxKey(id), func(m *mailbox) error {
					if m.Email != email {
						m.Email, m.Age = email, m.Age+1
					}
					return nil
				})
			}
		}
	}
}

// read fails if the index that is not unique lacks an entity that nothing has changed.
func (d *duplicateSchedule) read(ctx context.Context, of *duplicates) {
	var ids []string
	for e, err := range of.reader.Query(ctx, "p", secondaryindex.Equal("v"), nil) {
		if err != nil {
			d.Failf("a reader: %w", err)
			return
		}
		ids = append(ids, e.Primary.Row)
	}
	if !slices.Contains(ids, "constant") {
		d.Failf("a reader found %v", ids)
	}
}

// check compares the entities, both indexes, and what Backfill lists.
func (d *duplicateSchedule) check(ctx context.Context, of *duplicates) {
	sharing, taken := map[string][]string{}, map[string]int{}
	for item, err := range of.store.Query(ctx, query.PartitionKey.Eq("p"), nil) {
		if err != nil {
			d.Failf("read: %w", err)
			return
		}
		if m := item.Value; m.Email != "" {
			sharing[m.Email] = append(sharing[m.Email], m.RowKey)
			taken[m.Email] += min(1, int(m.Age))
		}
	}
	listed := map[string]string{}
	r, err := reindex.Backfill(ctx, of.store, "email", "", &reindex.Options{Found: func(f reindex.Finding) {
		if f.Kind == reindex.Duplicate {
			listed[f.Primary.Row] = f.Owner.Row
		}
	}})

	if err != nil || r.Duplicate != len(listed) || r.Missing+r.Wrong+r.Orphan+r.Undecided > 0 {
		d.Failf("backfill: %+v, %d listed: %w", r, len(listed), err)
	}
	for email, ids := range sharing {
		if taken[email] > 0 && len(ids) > 1 {
			d.Failf("%s belongs to %v, of which %d have taken it", email, ids, taken[email])
		}
		owner, err := of.uniqueReader.Get(ctx, "p", email)
		if err != nil || !slices.Contains(ids, owner.Primary.Row) {
			d.Failf("%s belongs to %v, and the row to %v: %w", email, ids, owner.Primary, err)
		}
		var indexed []string
		for e, err := range of.reader.Query(ctx, "p", secondaryindex.Equal(email), nil) {
			if err != nil {
				d.Failf("a reader: %w", err)
			}
			indexed = append(indexed, e.Primary.Row)
		}
		if slices.Sort(ids); strings.Join(indexed, " ") != strings.Join(ids, " ") {
			d.Failf("%s belongs to %v, and the index has %v", email, ids, indexed)
		}
		for _, id := range ids {
			if want := owner.Primary.Row; id != want && listed[id] != want {
				d.Failf("%s shares %s with %s, and Backfill lists %v", id, email, want, listed)
			}
			delete(listed, id)
		}
	}
	if len(listed) > 0 {
		d.Failf("Backfill lists %v as well", listed)
	}
	for f, err := range reindex.Verify(ctx, of.store, "", nil) {
		if err != nil || f.Kind != reindex.Duplicate {
			d.Failf("Verify: %+v: %w", f, err)
		}
	}
	states, err := of.store.ViewStates(ctx)
	want := map[bool]string{true: patterns.ViewReady, false: patterns.ViewBuilding}[r.Duplicate == 0]
	if i := slices.IndexFunc(states, func(s patterns.ViewState) bool { return s.View == "email" }); err != nil || i < 0 || states[i].State != want {
		d.Failf("states %v, want %s: %w", states, want, err)
	}
}
