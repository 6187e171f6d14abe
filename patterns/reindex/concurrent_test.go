package reindex_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// account returns an account with the tables of the world, and pages of a few rows.
func account(t testing.TB) *storagetest.Account {
	t.Helper()
	a := storagetest.Start(&storagetest.Options{PageRows: 20})
	for _, name := range []string{"people", "badges"} {
		assert.Must(a.Tables().CreateTable(t.Context(), name, nil))(t)
	}
	return a
}

// content returns all rows but those of the outbox.
func (w *world) content(t testing.TB) map[keys.Key]row {
	t.Helper()
	all := w.rows(t, w.badges)
	for k, r := range w.rows(t, w.people) {
		if !strings.HasPrefix(k.Row, "~azp_outbox_") {
			all[k] = r
		}
	}
	return all
}

// complete runs a worker until no message is left.
func (w *world) complete(t testing.TB) {
	t.Helper()
	for w.queue.Len() > 0 {
		if ok, err := w.queue.WorkOne(t.Context(), w, time.Minute); err != nil {
			t.Fatal(err)
		} else if !ok {
			time.Sleep(time.Minute)
		}
	}
}

func TestARunThatIsKilledAtAnyRequestContinuesFromItsCheckpoint(t *testing.T) {
	t.Run("Repair", func(t *testing.T) {
		killed(t, 40, func(t testing.TB, w *world) { w.fill(t, 40, true); w.damage(t, 40, 9) }, reindex.Repair[person])
	})
	t.Run("Backfill", func(t *testing.T) {
		killed(t, 25, func(t testing.TB, w *world) { w.fill(t, 25, false) }, func(ctx context.Context, s *patterns.Store[person], cursor string, o *reindex.Options) (reindex.Report, error) {
			return reindex.Backfill(ctx, s, "email", cursor, o)
		})
	})
}

// killed kills a run of a world with n persons at each request, and continues it. That reads at
// most one page of a scan again.
func killed(t *testing.T, n int, prepare func(testing.TB, *world), run func(context.Context, *patterns.Store[person], string, *reindex.Options) (reindex.Report, error)) {
	alone := 0 // pages that a run reads again that is not killed, because it scans a table twice
	sample := harness.Sample(t, 3)
	for kill, ended := 0, false; !ended; kill++ {
		if kill > 0 && !sample(kill) {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			b := account(t)
			good := start(t, &harness.Process{Inner: b.Transport()}, new(countedQueue))
			good.fill(t, n, true)
			want := good.content(t)

			a := account(t)
			queue := new(countedQueue)
			w := start(t, &harness.Process{Inner: a.Transport()}, queue)
			prepare(t, w)

			pages, dead := &pageCounter{Transporter: a.Transport(), seen: map[string]bool{}}, false
			var mu sync.Mutex
			once := func(die int, cursor string) (saved string, r reindex.Report, err error) {
				requests := 0
				p := &harness.Process{Inner: pages, Decide: func(string, string) (f harness.Fate) {
					mu.Lock()
					defer mu.Unlock()
					requests++
					if f.Dies = requests == die; f.Dies {
						dead = true
						f.What = []harness.Delivery{harness.RequestLost, harness.ReplyLost}[die%2]
					}
					return f
				}}
				r, err = run(t.Context(), start(t, p, queue).Store, cursor, &reindex.Options{Parallel: 1, Checkpoint: func(save func() (string, error)) (err error) {
					saved, err = save()
					return err
				}})
				return saved, r, err
			}
			saved, r, err := once(kill, "")
			if !dead {
				assert.NoError(t, err)
			}
			switch {
			case kill == 0:
				alone = pages.again
			case !dead:
				ended = true
			default:
				_, r, err = once(0, saved)
				assert.NoError(t, err)
				if pages.again > alone+1 {
					t.Errorf("killed at request %d: %d pages were read again, %d without that", kill, pages.again, alone)
				}
			}
			if r.Primaries != n || r.Passes != 1 || r.Failed > 0 {
				t.Errorf("killed at request %d: %+v", kill, r)
			}
			w.complete(t)
			checkContent(t, kill, w.content(t), want)
		})
	}
}

// pageCounter counts the pages that a scan reads again.
type pageCounter struct {
	policy.Transporter
	seen  map[string]bool
	again int
}

func (c *pageCounter) Do(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "()") && !strings.Contains(req.URL.Query().Get("$filter"), "PartitionKey eq") {
		if c.seen[req.URL.String()] {
			c.again++
		}
		c.seen[req.URL.String()] = true
	}
	return c.Transporter.Do(req)
}

func checkContent(t testing.TB, kill int, got, want map[keys.Key]row) {
	t.Helper()
	for k, r := range got {
		assert.DeepEqual(t, r, want[k], "killed at request", kill, "row")
	}
	assert.Equal(t, len(got), len(want), "killed at request", kill, "rows")
}

func TestACorrectTableHasNoFindingsUnderConcurrentWritesAndCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account(t)
		queue := new(countedQueue)
		start(t, &harness.Process{Inner: a.Transport()}, queue).fill(t, 200, true)

		// process returns a process whose requests take some time and, if it may crash, the last
		// of which is lost, or its reply is.
		var seeds atomic.Uint64
		process := func(crashes bool) (*world, *harness.Process, *rand.Rand) {
			seed := seeds.Add(1)
			chance := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			p := &harness.Process{Inner: a.Transport(), Decide: func(string, string) harness.Fate {
				mu.Lock()
				defer mu.Unlock()
				f := harness.Fate{Before: time.Duration(chance.IntN(20)) * time.Millisecond, After: time.Duration(chance.IntN(20)) * time.Millisecond}
				if f.Dies = crashes && chance.IntN(50) == 0; f.Dies {
					f.What = []harness.Delivery{harness.RequestLost, harness.ReplyLost}[chance.IntN(2)]
				}
				return f
			}}
			return start(t, p, queue), p, rand.New(rand.NewPCG(seed, 2))
		}
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		var written atomic.Int32
		for range 4 {
			writers.Go(func() {
				for ctx.Err() == nil {
					w, p, chance := process(true)
					for ctx.Err() == nil && !p.Dead() {
						if w.change(ctx, chance, 200) == nil {
							written.Add(1)
						}
					}
				}
			})
		}
		writers.Go(func() {
			for ctx.Err() == nil {
				w, p, _ := process(true)
				for ctx.Err() == nil && !p.Dead() {
					if ok, _ := queue.WorkOne(ctx, w, 10*time.Second); !ok {
						_ = sleep(ctx, time.Second)
					}
				}
			}
		})
		w, _, _ := process(false)
		// At least 20 runs, and as many more as it takes until there was enough to be confused by:
		// how much the writers do in one run depends on the order of goroutines.
		suspects := 0
		for runs := 0; runs < 20 || written.Load() < 1000 || suspects < 100; runs++ {
			if runs == 200 {
				t.Fatalf("%d writes, and %d reads of suspects: too few", written.Load(), suspects)
			}
			var report reindex.Report
			for f, err := range reindex.Verify(t.Context(), w.Store, "", &reindex.Options{Report: &report}) {
				assert.NoError(t, err)
				t.Errorf("%+v", f)
			}
			suspects += report.Requests.Confirm // each of up to seven suspects of a partition
		}
		stop()
		writers.Wait()
		w.complete(t)
		for f, err := range reindex.Verify(t.Context(), w.Store, "", &reindex.Options{Progress: func(r patterns.Progress) {
			if r.Skipped > 0 {
				t.Errorf("after the last operation: %+v", r)
			}
		}}) {
			t.Errorf("after the last operation: %+v, %v", f, err)
		}
	})
}

// change changes one of n persons.
func (w *world) change(ctx context.Context, chance *rand.Rand, n int) error {
	p := personOf(chance.IntN(n))
	switch chance.IntN(6) {
	case 0:
		return w.Delete(ctx, p.key())
	case 1:
		_, err := w.Put(ctx, p)
		return err
	}
	_, err := w.Update(ctx, p.key(), func(q *person) error {
		if chance.IntN(2) == 0 {
			q.City = personOf(chance.IntN(n)).City
		}
		q.Name += "."
		q.Badge = p.Badge + []string{"", "a", "b"}[chance.IntN(3)]
		q.Email = p.Email + []string{"", "a", "b"}[chance.IntN(3)]
		return nil
	})
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
