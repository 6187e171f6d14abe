package reindex_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// persons is how many persons a schedule has.
const persons = 20

// schedule is a random run of writers, workers and runs of this package.
type schedule struct {
	*harness.Schedule
	testing.TB
	queue     *countedQueue
	processes atomic.Int32
	added     int           // the view that the procedure adds and removes
	grace     time.Duration // of the store
}

// version is what a version of a program has.
type version struct {
	lacks             bool // the added view
	building, retired bool
	only              string // its one view, if it has no other
}

// open starts a process of the version.
func (s *schedule) open(p *harness.Process, v version) *world {
	service := assert.Must(p.Tables(true, 1))(s.TB)
	w := &world{people: service.NewClient("people"), badges: service.NewClient("badges"), queue: s.queue}
	all := views(s.TB, w.badges)
	opts := &patterns.StoreOptions[person]{Views: all, Outbox: s.queue, Expiry: 10 * time.Minute, Grace: s.grace}
	names := []string{all[s.added].Name()}
	switch {
	case v.only != "":
		opts.Views = slices.DeleteFunc(all, func(o patterns.View[person]) bool { return o.Name() != v.only })
	case v.lacks:
		opts.Views = slices.Delete(all, s.added, s.added+1)
	case v.building:
		opts.Building = names
	case v.retired:
		opts.Retired = names
	}
	w.Store = harness.NewStore(s.TB, w.people, opts)
	return w
}

// process returns a new process and its number. It may be called concurrently.
func (s *schedule) process() (*harness.Process, int) {
	number := int(s.processes.Add(1))
	return s.Process(number), number
}

// compete lets writers of the versions change persons, and a worker complete operations. It
// returns when the writers and meanwhile, if it is not nil, have returned.
func (s *schedule) compete(ctx context.Context, meanwhile func(), versions ...version) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var writers, workers sync.WaitGroup
	start := func(v version) (*world, *harness.Process, *rand.Rand) {
		p, number := s.process()
		return s.open(p, v), p, rand.New(rand.NewPCG(s.Seed, uint64(number)))
	}
	for i := range 4 {
		v := versions[i%len(versions)]
		writers.Go(func() {
			for n := 0; n < 8; {
				w, p, chance := start(v)
				for ; n < 8 && !p.Dead(); n++ {
					err := w.change(ctx, chance, persons)
					if errors.As(err, new(*patterns.ViewMismatchError)) || errors.As(err, new(*patterns.DuplicateError)) {
						s.Failf("a writer of version %+v: %w", v, err)
					}
				}
			}
		})
	}
	workers.Go(func() {
		for ctx.Err() == nil {
			w, p, _ := start(versions[0])
			for ctx.Err() == nil && !p.Dead() {
				if ok, _ := s.queue.WorkOne(ctx, w, 10*time.Second); !ok {
					_ = sleep(ctx, time.Second)
				}
			}
		}
	})
	if meanwhile != nil {
		meanwhile()
	}
	writers.Wait()
	stop()
	workers.Wait()
}

// finish completes all operations.
func (s *schedule) finish(ctx context.Context, v version) {
	s.WaitLate()
	w := s.open(s.Reliable(), v)
	for range 3 { // a record is removed some time after its operation was completed
		w.complete(s.TB)
		if _, err := w.Sweep(ctx, nil); err != nil {
			s.Failf("sweep: %w", err)
		}
		time.Sleep(20 * time.Minute)
	}
}

// backfill runs Backfill, in as many processes as it takes.
func (s *schedule) backfill(ctx context.Context, v version, view string) {
	cursor := ""
	for try := 0; ; try++ {
		p, _ := s.process()
		if try > 50 {
			p = s.Reliable()
		}
		r, err := reindex.Backfill(ctx, s.open(p, v).Store, view, cursor, &reindex.Options{Checkpoint: func(save func() (string, error)) (err error) {
			cursor, err = save()
			return err
		}})

		switch {
		case err == nil && r.Failed == 0:
			return
		case err == nil:
			cursor = "" // once more for the primaries that failed
		}
		if errors.As(err, new(*patterns.ViewMismatchError)) || errors.Is(err, patterns.ErrBadCursor) || try > 100 {
			s.Failf("backfill: %+v: %w", r.Failures, err)
			return
		}
	}
}

// check compares the rows with those that the persons imply.
func (s *schedule) check(what string, v version) {
	w := s.open(s.Reliable(), v)
	all := [2]map[keys.Key]row{w.rows(s.TB, w.people), w.rows(s.TB, w.badges)}
	want, got := map[string]bool{}, map[string]bool{}
	for k, r := range all[0] {
		if _, derived := r["azp_view"]; derived || strings.HasPrefix(k.Row, "~azp") {
			continue
		}
		p := &person{k.Partition, k.Row, r["Name"].(string), r["Email"].(string), r["Badge"].(string), r["City"].(string)}
		listing, _ := r["azp_views"].(string)
		for _, view := range views(s.TB, w.badges) {
			name := view.Name()
			if has := strings.Contains(listing, name+":"); has == (name == w.added(s) && (v.lacks || v.retired)) {
				s.Failf("%s: %v lists %s", what, k, listing)
				return
			}
			if !strings.Contains(listing, name+":") {
				continue
			}
			for _, d := range assert.Must(assert.Must(view.Engine())(s.TB).Rows(p))(s.TB) {
				want[fmt.Sprint(name, d.Key, p.key())] = true
			}
		}
	}
	for _, rows := range all {
		for k, r := range rows {
			name, _ := r["azp_view"].(string)
			if name == "" || strings.HasPrefix(k.Row, "~azp") || r["azp_state"] == "reserved" {
				continue
			}
			if name != "city" {
				owner := keys.Key{Partition: r["azp_pk"].(string), Row: r["azp_rk"].(string)}
				got[fmt.Sprint(name, k, owner)] = true
				if p := all[0][owner]; p == nil || p["Name"] != r["Name"] {
					s.Failf("%s: the copy %v of %v", what, r, p)
				}
				continue
			}
			for _, m := range parse(s.TB, r["Members"].(string)) {
				pk, rk, _ := strings.Cut(m, "/")
				got[fmt.Sprint(name, k, keys.Key{Partition: pk, Row: rk})] = true
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		s.Failf("%s: rows %v, want %v", what, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func (w *world) added(s *schedule) string { return views(s.TB, w.badges)[s.added].Name() }

// state checks the state of the added view.
func (s *schedule) state(ctx context.Context, v version, want string) {
	w := s.open(s.Reliable(), v)
	states, err := w.ViewStates(ctx)
	for _, state := range states {
		if state.View == w.added(s) && state.State != want {
			err = errors.Join(err, fmt.Errorf("%s is %q, want %q", state.View, state.State, want))
		}
	}
	if err != nil {
		s.Failf("state: %w", err)
	}
}

// inBubble is the test with the context of a schedule.
type inBubble struct {
	testing.TB
	ctx context.Context
}

func (b inBubble) Context() context.Context { return b.ctx }

func schedules(t *testing.T, modes []string, number int, run func(ctx context.Context, mode string, s *schedule)) {
	harness.Schedules(t, modes, number, func(ctx context.Context, mode string, hs *harness.Schedule) {
		s := &schedule{Schedule: hs, TB: inBubble{t, ctx}, queue: new(countedQueue), added: hs.IntN(3)}
		service := assert.Must(s.Reliable().Tables(true, 1))(t)
		for _, name := range []string{"people", "badges"} {
			assert.Must(service.CreateTable(ctx, name, nil))(t)
		}
		s.DrawFaults(5 * time.Minute)
		run(ctx, mode, s)
	})
}

// The steps are those of the package documentation. In each, programs of two versions write,
// and crash, as do the workers and the process that runs Backfill.
func TestTheProcedureAddsAndRemovesAViewWhileTwoVersionsWrite(t *testing.T) {
	schedules(t, []string{"building first", "no competition"}, 2, func(ctx context.Context, mode string, s *schedule) {
		old, building, full, retired := version{lacks: true}, version{building: true}, version{}, version{retired: true}
		w := s.open(s.Reliable(), old)
		w.fill(s.TB, persons, false)
		name := w.added(s)

		s.compete(ctx, nil, old, building)
		s.compete(ctx, nil, building, full)
		s.WaitLate()
		s.compete(ctx, func() { s.backfill(ctx, full, name) }, full)
		s.finish(ctx, full)
		s.state(ctx, full, patterns.ViewReady)
		listed := s.open(s.Reliable(), full)
		assert.Must(reindex.Backfill(ctx, listed.Store, "email", "", nil))(s.TB) // the other views, of persons that nothing has changed
		assert.Must(reindex.Backfill(ctx, listed.Store, "badge", "", nil))(s.TB)
		s.check("the view is added", full)

		if mode == "building first" {
			s.compete(ctx, nil, full, building)
			s.compete(ctx, nil, building, retired)
		} else {
			s.compete(ctx, nil, full, retired)
		}
		s.WaitLate()
		s.compete(ctx, func() { s.backfill(ctx, retired, name) }, retired)
		s.finish(ctx, retired)
		s.state(ctx, retired, "")
		s.check("the view is removed", retired)
		s.compete(ctx, nil, retired, old)
		s.finish(ctx, old)
		s.check("the code is removed", old)
	})
}

func TestACorrectTableHasNoFindingsWhateverRequestsFailOrArriveLate(t *testing.T) {
	schedules(t, []string{"verify", "repair"}, 2, func(ctx context.Context, mode string, s *schedule) {
		w := s.open(s.Reliable(), version{})
		w.fill(s.TB, persons, true)
		s.compete(ctx, func() {
			for range 5 {
				_ = sleep(ctx, time.Duration(s.IntN(60))*time.Second)
				p := s.Reliable()
				if mode == "repair" {
					p, _ = s.process()
				}
				r, _ := reindex.Repair(ctx, s.open(p, version{}).Store, "", &reindex.Options{DryRun: mode == "verify"})
				if n := r.Missing + r.Wrong + r.Orphan + r.Duplicate; n > 0 {
					s.Failf("%d findings: %+v", n, r)
				}
			}
		}, version{})
		s.finish(ctx, version{})
		s.check("at the end", version{})
	})
}

// The requests of the writers take up to 20 seconds, and the worker completes operations that are
// older than two. So writers write what they have read before their operations were completed, and
// the person changed again.
func TestACorrectTableHasNoFindingsWithHastyWorkers(t *testing.T) {
	schedules(t, []string{"city", "all"}, 10, func(ctx context.Context, mode string, s *schedule) {
		s.grace, s.Faults = 2*time.Second, harness.Faults{}
		v := version{}
		if mode == "city" {
			v.only = mode
		}
		ctx, stop := context.WithCancel(ctx)
		w := s.open(s.Reliable(), v)
		var writers, others sync.WaitGroup
		for range 2 + s.IntN(2) {
			p, number := s.process()
			chance := rand.New(rand.NewPCG(s.Seed, uint64(number)))
			s.Faults.Latency = time.Duration(s.IntN(21)) * time.Second // of the next process
			writers.Go(func() {
				slow := s.open(p, v)
				for range 2 {
					person := personOf(0)
					person.City = personOf(100 * chance.IntN(2)).City
					if chance.IntN(3) == 0 {
						_ = slow.Delete(ctx, person.key())
					} else {
						_, _ = slow.Put(ctx, person)
					}
				}
			})
		}
		others.Go(func() {
			for ctx.Err() == nil {
				if ok, _ := s.queue.WorkOne(ctx, w, 10*time.Second); !ok {
					_ = sleep(ctx, time.Second)
				}
			}
		})
		others.Go(func() {
			chance := rand.New(rand.NewPCG(s.Seed, 0))
			for ctx.Err() == nil {
				_ = sleep(ctx, time.Duration(5+chance.IntN(60))*time.Second)
				r, _ := reindex.Repair(ctx, w.Store, "", &reindex.Options{DryRun: true})
				if n := r.Missing + r.Wrong + r.Orphan + r.Duplicate; n > 0 {
					s.Failf("%d findings: %+v", n, r)
				}
			}
		})
		writers.Wait()
		stop()
		others.Wait()
		ctx = s.TB.Context()
		w.complete(s.TB)
		r, err := reindex.Repair(ctx, w.Store, "", &reindex.Options{DryRun: true})
		if n := r.Missing + r.Wrong + r.Orphan + r.Duplicate + r.Undecided; n > 0 || err != nil {
			s.Failf("in the end %d findings: %+v, %v", n, r, err)
		}
	})
}
