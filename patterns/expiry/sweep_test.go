package expiry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// fill stores n sessions in partitions of 50, of which every second one has expired.
func (w *world) fill(t testing.TB, n int) {
	t.Helper()
	now := time.Now()
	report, err := w.store.Bulk(t.Context(), func(yield func(patterns.StoreOp[session]) bool) {
		for i := range n {
			s := &session{fmt.Sprintf("app%d", i/50), fmt.Sprint(i), "", now.Add(time.Hour)}
			if i%2 == 0 {
				s.Expires = now.Add(-time.Hour - time.Duration(i)*time.Second)
			}
			if !yield(patterns.InsertEntity(s)) {
				return
			}
		}
	}, nil)
	assert.NoError(t, err)
	assert.Equal(t, report.Done, n)
}

// wantHalf checks that all sessions are left that have not expired, and nothing else.
func (w *world) wantHalf(t testing.TB, n int) {
	t.Helper()
	left := 0
	for item, err := range w.store.Table().Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
		assert.NoError(t, err)
		if left++; !item.Value.Expires.After(time.Now()) {
			t.Fatalf("%v is left", item.Key)
		}
	}
	assert.Equal(t, left, n/2, "entities are left")
}

func TestExactlyTheEntitiesThatHaveExpiredAreDeleted(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account)
		n := harness.Sized(100_000, 10_000)
		w := newWorld(t, b, nil)
		w.fill(t, n)
		b.ResetRequests()
		r := w.sweepAll(t, nil)
		assert.Equal(t, [3]int{r.Done, r.Lookups, r.Skipped}, [3]int{n / 2, 0, 0})
		if each := float64(r.Requests) / float64(n/2); each > 0.3 {
			t.Errorf("%.2f requests for each", each)
		}
		w.wantHalf(t, n)
	})
}

func TestSweepsRunConcurrently(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account)
		n := 1000
		w := newWorld(t, b, nil)
		w.fill(t, n)
		time.Sleep(shortExpiry + time.Second)
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() {
				r, err := w.sweep.Sweep(t.Context(), nil)
				assert.NoError(t, err)
				assert.Equal(t, r.Failed, 0, r.Failures)
			})
		}
		running.Wait()
		w.wantHalf(t, n)
		assert.Equal(t, w.sweepAll(t, nil).Found, 0)
	})
}

func TestASweepIsContinued(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx, n := t.Context(), 1000
		w := newWorld(t, b, nil)
		w.fill(t, n)
		time.Sleep(shortExpiry + time.Second)
		b.Fault(storagetest.On("*").Delay(time.Millisecond))
		sum, cursors := harness.SweepInPieces(t, patterns.SweepOptions{}, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return w.sweep.Sweep(ctx, o)
		})
		assert.Equal(t, sum.Done, n/2)
		if len(cursors) < 4 {
			t.Errorf("%d cursors", len(cursors))
		}
		w.wantHalf(t, n)
		_, err := w.sweep.Sweep(ctx, &patterns.SweepOptions{Cursor: cursors[0][1:]})
		assert.WantError(t, err, patterns.ErrBadCursor)
		_, err = w.store.Sweep(ctx, &patterns.SweepOptions{Cursor: cursors[0]})
		assert.WantError(t, err, patterns.ErrBadCursor)
	})
}

func TestASweepKeepsToALimitOfRequests(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b, nil)
		w.fill(t, 1000)
		time.Sleep(shortExpiry + time.Second)
		began := time.Now()
		r, err := w.sweep.Sweep(t.Context(), &patterns.SweepOptions{RequestsPerSecond: 2})
		assert.NoError(t, err)
		if took := time.Since(began); took < time.Duration(r.Requests-1)*time.Second/2 || took > time.Duration(r.Requests)*time.Second/2 {
			t.Errorf("%d requests took %v", r.Requests, took)
		}
		_, err = w.sweep.Sweep(t.Context(), &patterns.SweepOptions{RequestsPerSecond: -1})
		assert.WantError(t, err, patterns.ErrBadOption)
	})
}

// The clock of the service decides, wherever that of the program is.
func TestTheClockOfTheServiceDecides(t *testing.T) {
	for _, skew := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		harness.InSkewedTime(t, skew, func(t *testing.T, b *harness.Backend) {
			ctx := t.Context()
			w := newWorld(t, b, &expiry.Options[session]{Bucket: time.Minute})
			service := time.Now().Add(skew)
			assert.Must(w.store.Insert(ctx, newSession("1", "ann", service.Add(time.Minute))))(t)
			assert.Must(w.store.Get(ctx, at("1")))(t)
			time.Sleep(50 * time.Second)
			assert.Must(w.store.Get(ctx, at("1")))(t)
			assert.Equal(t, w.sweepAll(t, nil).Found, 0)
			time.Sleep(2 * time.Minute)
			_, err := w.store.Get(ctx, at("1"))
			assert.WantError(t, err, patterns.ErrNotFound)
			r, err := w.store.Views()[0].(*expiry.Expiry[session]).On(w.again(t)).Sweep(ctx, nil)
			assert.NoError(t, err)
			assert.Equal(t, r.Done, 1)
			assert.Equal(t, w.stored(t), 0)
		})
	}
}

// The first reply to a process shows the time for what it contains.
func TestTheFirstReadLeavesOutWhatHasExpired(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		assert.Must(w.store.Insert(ctx, newSession("1", "ann", time.Now().Add(-time.Hour))))(t)
		reads := map[string]func(*patterns.Store[session]) (int, error){
			"get": func(s *patterns.Store[session]) (int, error) {
				_, err := s.Get(ctx, at("1"))
				if errors.Is(err, patterns.ErrNotFound) {
					return 0, nil
				}
				return 1, err
			},
			"query": func(s *patterns.Store[session]) (int, error) {
				return len(assert.All(t, s.Query(ctx, query.PartitionKey.Eq("app"), nil))), nil
			},
			"page": func(s *patterns.Store[session]) (int, error) {
				page, err := s.Page(ctx, query.PartitionKey.Eq("app"), "", nil)
				return len(page.Items), err
			},
			"index": func(s *patterns.Store[session]) (int, error) {
				return len(assert.All(t, s.Views()[1].(*secondaryindex.Index[session]).On(s).Query(ctx, "app", secondaryindex.Values{}, nil))), nil
			},
			"update": func(s *patterns.Store[session]) (int, error) {
				_, err := s.Update(ctx, at("1"), func(*session) error { return nil })
				if errors.Is(err, patterns.ErrNotFound) {
					return 0, nil
				}
				return 1, err
			},
		}
		for name, read := range reads {
			assert.Equal(t, assert.Must(read(w.again(t)))(t), 0, name)
		}
	})
}

// again returns the store of another process, which has seen no reply.
func (w *world) again(t testing.TB) *patterns.Store[session] {
	t.Helper()
	table := assert.Must(patterns.NewTable[session](w.store.Table().Client(), nil))(t)
	return assert.Must(patterns.NewStore(table, &patterns.StoreOptions[session]{Views: w.store.Views(), Expiry: shortExpiry}))(t)
}

func TestExpiryIsSwitchedOnAndOff(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[session](t, b.Table(t), nil)
		x := expiry.At("expiry", nil, expiresOf, nil)
		open := func(o patterns.StoreOptions[session]) *patterns.Store[session] {
			o.Expiry = shortExpiry
			return assert.Must(patterns.NewStore(table, &o))(t)
		}
		views := []patterns.View[session]{x}
		before := open(patterns.StoreOptions[session]{})
		building := open(patterns.StoreOptions[session]{Views: views, Building: []string{"expiry"}})
		ready := open(patterns.StoreOptions[session]{Views: views})
		past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		assert.Must(before.Insert(ctx, newSession("1", "", past)))(t)
		assert.Must(before.Insert(ctx, newSession("2", "", future)))(t)
		assert.Must(building.Get(ctx, at("1")))(t) // a building view changes nothing
		_, err := ready.Get(ctx, at("1"))
		assert.WantError(t, err, patterns.ErrNotFound)
		report, err := reindex.Backfill(ctx, ready, "expiry", "", nil)
		assert.NoError(t, err)
		assert.Equal(t, report.Failed, 0)
		time.Sleep(shortExpiry + time.Second)
		r, err := x.On(ready).Sweep(ctx, nil)
		assert.NoError(t, err)
		assert.Equal(t, r.Done, 1)
		assert.Equal(t, len(harness.Rows(t, table.Client())), 3) // the other session, its row, and the state of the view
		for finding, err := range reindex.Verify(ctx, ready, "", nil) {
			t.Errorf("%v, %v", finding, err)
		}
		retired := open(patterns.StoreOptions[session]{Views: views, Retired: []string{"expiry"}})
		assert.Must(retired.Update(ctx, at("2"), func(s *session) error { s.Expires = past; return nil }))(t)
		assert.Must(retired.Get(ctx, at("2")))(t)
		time.Sleep(3 * time.Hour) // until the end of the row's bucket
		r, err = x.On(retired).Sweep(ctx, nil)
		assert.NoError(t, err)
		assert.Equal(t, [2]int{r.Done, r.Lookups}, [2]int{1, 1})
		assert.Equal(t, len(harness.Rows(t, table.Client())), 2)
	})
}

func TestAWorkerSweeps(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b, nil)
		w.fill(t, 100)
		time.Sleep(shortExpiry + time.Second)
		worker := assert.Must(eventual.NewWorker(b.Queue(t), &eventual.Options{Poison: b.Queue(t)}))(t)
		eventual.HandleSweep(worker, time.Minute, w.sweep, &patterns.SweepOptions{Deadline: time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		assert.NoError(t, worker.Run(ctx))
		w.wantHalf(t, 100)
	})
}

func TestWhatIsInvalidIsRefusedBeforeAnyRequest(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[session](t, b.Table(t), nil)
		type keyless struct{ Expires time.Time }
		for name, x := range map[string]*expiry.Expiry[session]{
			"name":     expiry.At("a_b", nil, expiresOf, nil),
			"function": expiry.At[session]("x", nil, nil, nil),
			"bucket":   expiry.At("x", nil, expiresOf, &expiry.Options[session]{Bucket: -time.Second}),
			"spread":   expiry.At("x", nil, expiresOf, &expiry.Options[session]{Spread: -1}),
		} {
			_, err := patterns.NewStore(table, &patterns.StoreOptions[session]{Views: []patterns.View[session]{x}})
			var invalid *patterns.ViewError
			if !errors.As(err, &invalid) || !errors.Is(err, patterns.ErrBadView) {
				t.Errorf("%s: %v", name, err)
			}
			_, err = x.On(nil).Sweep(ctx, nil)
			assert.WantError(t, err, patterns.ErrBadView)
		}
		_, err := expiry.At("x", nil, func(k *keyless) time.Time { return k.Expires }, nil).Engine()
		assert.Failed(t, err)
		w := newWorld(t, b, nil)
		b.ResetRequests()
		_, err = w.sweep.Sweep(ctx, &patterns.SweepOptions{Partitions: []string{"app"}})
		assert.WantError(t, err, patterns.ErrBadOption)
		_, err = expiry.At("other", nil, expiresOf, nil).On(w.store).Sweep(ctx, nil)
		assert.WantError(t, err, patterns.ErrBadView)
		_, err = w.store.Insert(ctx, newSession("1", "", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))
		assert.Failed(t, err)
		b.WantRequestCount(t, 0)
	})
}

// A reader of lookups leaves the rows of an entity that has expired alone: a change of a version that was read before may make it exist again.
func TestALookupOfAnEntityThatHasExpiredIsNotSuperfluous(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		x := expiry.At("expiry", nil, expiresOf, nil)
		users := secondaryindex.Lookup("user", nil, func(s *session) []string { return []string{s.User} }, &secondaryindex.Options[session]{RemoveSuperfluous: true})
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[session]{Views: []patterns.View[session]{x, users}, Expiry: shortExpiry})
		item := assert.Must(store.Insert(ctx, newSession("1", "ann", time.Now().Add(time.Minute))))(t)
		time.Sleep(10 * time.Minute) // the clock of the account may be behind
		_, err := store.Get(ctx, at("1"))
		assert.WantError(t, err, patterns.ErrNotFound)
		for range 2 {
			assert.Equal(t, len(assert.All(t, users.On(store).Query(ctx, "app", secondaryindex.Equal("ann"), nil))), 0)
		}
		assert.Must(store.PutItem(ctx, item, newSession("1", "ann", time.Now().Add(time.Hour))))(t)
		assert.Equal(t, len(assert.All(t, users.On(store).Query(ctx, "app", secondaryindex.Equal("ann"), nil))), 1)
	})
}

// A Store for which the view is building or retired returns the entities that have expired, so its sweep deletes none.
func TestASweepOfAViewThatIsSwitchedOffDeletesNoEntity(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[session](t, b.Table(t), nil)
		x := expiry.At("expiry", nil, expiresOf, nil)
		for _, o := range []patterns.StoreOptions[session]{{}, {Building: []string{"expiry"}}, {Retired: []string{"expiry"}}} {
			o.Views, o.Expiry = []patterns.View[session]{x}, shortExpiry
			store := assert.Must(patterns.NewStore(table, &o))(t)
			if o.Building == nil && o.Retired == nil {
				assert.Must(store.Insert(ctx, newSession("1", "ann", time.Now().Add(-time.Hour))))(t)
				time.Sleep(time.Minute)
				continue
			}
			r := assert.Must(x.On(store).Sweep(ctx, nil))(t)
			assert.Equal(t, [3]int{r.Found, r.Skipped, r.Failed}, [3]int{1, 1, 0})
			assert.Must(store.Get(ctx, at("1")))(t)
		}
	})
}

func TestAFunctionThatPanicsIsAFailureOfTheSweep(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		panics := false
		x := expiry.At("expiry", nil, func(s *session) time.Time {
			if panics {
				panic("of the program")
			}
			return s.Expires
		}, nil)
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[session]{Views: []patterns.View[session]{x}, Expiry: shortExpiry})
		assert.Must(store.Insert(ctx, newSession("1", "ann", time.Now().Add(-time.Hour))))(t)
		time.Sleep(time.Minute)
		panics = true
		r := assert.Must(x.On(store).Sweep(ctx, nil))(t)
		assert.Equal(assert.Now(t), r.Failed, 1)
		assert.WantError(t, r.Failures[0].Err, patterns.ErrBadView)
		assert.Must(store.Get(ctx, at("1")))(t)
	})
}

func TestEntitiesWithAnyKeysAreDeleted(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		rows := []string{"it's", "🙂", " ", strings.Repeat("x", 512), "%2F+&", "_"}
		for _, row := range rows {
			for _, partition := range []string{"p", row} {
				s := &session{partition, row, "", time.Now().Add(-time.Hour)}
				_, err := w.store.Insert(ctx, s)
				assert.NoError(t, err, row)
			}
		}
		_, err := w.store.Insert(ctx, newSession(strings.Repeat("x", 513), "", time.Now()))
		assert.WantError(t, err, keys.ErrBadKey)
		r, err := w.sweep.Sweep(ctx, nil)
		assert.NoError(t, err)
		assert.Equal(t, r.Skipped, 2*len(rows))
		time.Sleep(time.Minute)
		r, err = w.sweep.Sweep(ctx, nil)
		assert.NoError(t, err)
		assert.Equal(t, [2]int{r.Done, r.Failed}, [2]int{2 * len(rows), 0}, r.Failures)
		assert.Equal(t, w.stored(t), 0)
	})
}
