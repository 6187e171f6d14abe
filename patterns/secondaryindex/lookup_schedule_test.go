package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// Readers look entities up while others change their values, requests and replies are lost or late, and
// processes are killed or paused. What a reader returns of an entity, and that it returns nothing, has an order with the writes of
// that entity, unless it changes during the call. An entity that never changes is returned exactly once. In half of the runs
// superfluous rows become old meanwhile, and readers and a sweep remove them.
func TestWhatAReaderOfLookupsFindsHasAnOrder(t *testing.T) {
	harness.Schedules(t, []string{"plain", "accelerated"}, 40, func(ctx context.Context, mode string, s *harness.Schedule) {
		if s.IntN(3) > 0 {
			s.DrawFaults(14 * time.Minute)
		}
		r := &lookupRun{Schedule: s, accelerated: mode == "accelerated", retries: int32(s.IntN(3)) - 1, expiry: 12 * time.Hour, of: map[string]*changes{}}
		if s.IntN(2) == 0 {
			r.removes, r.expiry = true, 30*time.Minute
		}
		setup, _, err := r.open(s.Reliable())
		if err == nil {
			err = setup.Create(ctx)
		}
		if err == nil {
			_, err = setup.Insert(ctx, newArticle("p", "still", "", "a", "ab"))
		}
		if err != nil {
			s.Failf("setup: %w", err)
			return
		}
		var running sync.WaitGroup
		for n := range 2 + s.IntN(2) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(n+1)))
			running.Go(func() { r.write(ctx, 100*(n+1), chance) })
		}
		for n := range 2 {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(n+50)))
			running.Go(func() { r.read(ctx, chance) })
		}
		if r.removes {
			running.Go(func() { r.sweep(ctx) })
		}
		running.Wait()
		s.WaitLate()
		time.Sleep(24 * time.Hour)
		if report, err := setup.Sweep(ctx, nil); err != nil || report.Failed > 0 {
			s.Failf("sweep: %v, %w", report.Failures, err)
		}
		r.find(ctx, rand.New(rand.NewPCG(s.Seed, 99)))
		if err := r.history.Check(); err != nil {
			s.Failf("%w", err)
		}
	})
}

// lookupRun is a schedule of writers and readers of articles.
type lookupRun struct {
	*harness.Schedule
	accelerated bool
	retries     int32
	removes     bool // readers remove superfluous rows
	expiry      time.Duration
	history     harness.History

	mu sync.Mutex
	of map[string]*changes
}

// changes are the changes of an entity so far.
type changes struct {
	begun int
	open  int // those that have not ended, or whose outcome is not known
}

func (r *lookupRun) open(p *harness.Process) (*patterns.Store[article], *secondaryindex.LookupReader[article], error) {
	service, err := p.Tables(r.accelerated, r.retries)
	if err != nil {
		return nil, nil, err
	}
	table, err := patterns.NewTable[article](service.NewClient("articles"), nil)
	if err != nil {
		return nil, nil, err
	}
	tags := secondaryindex.Lookup("tag", nil, tagsOf, &secondaryindex.Options[article]{Partition: acrossPartitions, RemoveSuperfluous: r.removes})
	store, err := patterns.NewStore(table, &patterns.StoreOptions[article]{Views: []patterns.View[article]{tags}, Expiry: r.expiry})
	return store, tags.On(store), err
}

// change returns what has changed of an entity, for the caller to read or add to.
func (r *lookupRun) change(id string, begun, open int) changes {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.of[id]
	if c == nil {
		c = &changes{}
		r.of[id] = c
	}
	c.begun += begun
	c.open += open
	return *c
}

var someTags = [][]string{{}, {"a"}, {"ab"}, {"b"}, {"a", "ab"}, {"ab", "b"}}

// text is a version of an article, with its tags.
func textOf(title string, tags []string) string { return title + "|" + strings.Join(tags, "|") + "|" }

func (r *lookupRun) write(ctx context.Context, number int, chance *rand.Rand) {
	var p *harness.Process
	var store *patterns.Store[article]
	for i := range 4 + chance.IntN(5) {
		if p == nil || p.Dead() {
			p = r.Process(number + i)
			var err error
			if store, _, err = r.open(p); err != nil {
				r.Failf("open: %w", err)
				return
			}
		}
		r.pause(chance)
		id := fmt.Sprint(chance.IntN(3))
		a := &article{PartitionKey: "p", RowKey: id, Title: fmt.Sprint(number, ".", i), Tags: someTags[chance.IntN(len(someTags))]}
		action := harness.Action{A: textOf(a.Title, a.Tags)}
		r.change(id, 1, 1)
		began := time.Now()
		counted, unanswered := harness.CountUnanswered(ctx)
		var item patterns.Item[article]
		var err error
		switch chance.IntN(4) {
		case 0:
			action.Kind = harness.InsertRow
			item, err = store.Insert(counted, a)
		case 1:
			action = harness.Action{Kind: harness.Remove}
			err = store.Delete(counted, keys.Key{Partition: "p", Row: id})
		case 2:
			action.Kind = harness.PutRow
			item, err = store.Put(counted, a)
		default:
			action.Kind = harness.UpdateRow
			item, err = store.Update(counted, keys.Key{Partition: "p", Row: id}, func(now *article) error {
				action.Saw = textOf(now.Title, now.Tags)
				now.Title, now.Tags = a.Title, a.Tags
				return nil
			})
		}
		res := harness.Result{Outcome: harness.NeverRan, Row: harness.Row{ETag: string(item.ETag)}}
		switch {
		case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, harness.ErrLost):
			res.Outcome = harness.Unknown
		case err == nil:
			res.Outcome = harness.Applied
		case errors.Is(err, patterns.ErrExists):
			res.Outcome = harness.Exists
		case errors.Is(err, patterns.ErrNotFound):
			res.Outcome = harness.Missing
		}
		again := 0
		if n := int(unanswered.Load()); n > 0 {
			res.Row.ETag = ""
			if res.Outcome == harness.Applied || res.Outcome == harness.Unknown {
				again = n // without an outbox row it may be carried out again after each lost reply
			}
		}
		r.history.Add(id, began, action, res, again)
		if res.Outcome != harness.Unknown && again == 0 {
			r.change(id, 0, -1)
		}
		r.Log("%s %+v: %v", id, action, err)
	}
}

// pause waits for up to 20 seconds or, if rows are removed, sometimes until those that exist are old.
func (r *lookupRun) pause(chance *rand.Rand) {
	time.Sleep(time.Duration(chance.IntN(20)) * time.Second)
	if r.removes && chance.IntN(3) == 0 {
		time.Sleep(r.expiry)
	}
}

// sweep removes superfluous rows a few times, by processes with faults.
func (r *lookupRun) sweep(ctx context.Context) {
	for i := range 4 {
		time.Sleep(r.expiry / 2)
		store, _, err := r.open(r.Process(1000 + i))
		if err != nil {
			r.Failf("open: %w", err)
			return
		}
		_, _ = store.Sweep(ctx, nil) // it fails if a request has no reply
	}
}

func (r *lookupRun) read(ctx context.Context, chance *rand.Rand) {
	for range 6 {
		r.pause(chance)
		r.find(ctx, chance)
	}
}

// find looks articles up by a reader without faults, whose requests take time.
func (r *lookupRun) find(ctx context.Context, chance *rand.Rand) {
	p := r.Reliable()
	p.Decide = func(string, string) harness.Fate {
		return harness.Fate{Before: time.Duration(1+chance.IntN(4000)) * time.Millisecond}
	}
	_, tags, err := r.open(p)
	if err != nil {
		r.Failf("open: %w", err)
		return
	}
	values, wanted := secondaryindex.Equal("a"), []string{"a"}
	switch chance.IntN(3) {
	case 0:
		values, wanted = secondaryindex.Prefix("a").In("all"), []string{"a", "ab"}
	case 1:
		values, wanted = secondaryindex.Range("ab", "").In("all"), []string{"ab", "b"}
	}
	before := map[string]changes{}
	for i := range 3 {
		before[fmt.Sprint(i)] = r.change(fmt.Sprint(i), 0, 0)
	}
	began := time.Now()
	found := map[string]int{}
	for item, err := range tags.Query(ctx, "", values, &patterns.QueryOptions{Parallel: 1, PageSize: 1 + chance.IntN(3)}) {
		if err != nil {
			r.Failf("query: %w", err)
			return
		}
		id := item.Value.RowKey
		if found[id]++; !slices.ContainsFunc(item.Value.Tags, func(tag string) bool { return slices.Contains(wanted, tag) }) {
			r.Failf("%q has none of %q", item.Value.Tags, wanted)
		}
		if id != "still" {
			row := harness.Row{Exists: true, A: textOf(item.Value.Title, item.Value.Tags), ETag: string(item.ETag)}
			r.history.Add(id, began, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
		}
	}
	if found["still"] != 1 {
		r.Failf("an entity that does not change was returned %d times for %q", found["still"], wanted)
	}
	for id, was := range before {
		if now := r.change(id, 0, 0); now.begun != was.begun || was.open > 0 {
			continue // it may be missing, or be returned in several versions
		}
		switch found[id] {
		case 0:
			for _, tag := range wanted {
				r.history.Add(id, began, harness.Action{Kind: harness.MissRow, A: "|" + tag + "|"}, harness.Result{Outcome: harness.Applied}, 0)
			}
		case 1:
		default:
			r.Failf("%s was returned %d times", id, found[id])
		}
	}
}
