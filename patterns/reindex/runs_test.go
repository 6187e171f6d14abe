package reindex_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// jobQueue is a queue of jobs that loses, duplicates and delays messages.
type jobQueue struct {
	mu     sync.Mutex
	chance *rand.Rand
	jobs   []reindex.Job
	late   []reindex.Job
	most   int // jobs of a stage
}

func (q *jobQueue) put(j reindex.Job, reliable bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.most = max(q.most, j.Part+1)
	n := q.chance.IntN(20)
	if reliable || n > 0 {
		q.jobs = append(q.jobs, j)
	}
	if n == 1 {
		q.jobs = append(q.jobs, j)
	}
	if n == 2 {
		q.late = append(q.late, j)
	}
}

// take returns any message, which remains on the queue.
func (q *jobQueue) take() (j reindex.Job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return j, false
	}
	return q.jobs[q.chance.IntN(len(q.jobs))], true
}

func (q *jobQueue) remove(j reindex.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.jobs, j); i >= 0 {
		q.jobs = slices.Delete(q.jobs, i, i+1)
	}
}

// sharedRuns returns the runs of the world that a process with that transport sees. The store
// has one of the views, or all.
func sharedRuns(t testing.TB, p *harness.Process, outbox *countedQueue, q *jobQueue, views ...int) (*reindex.Runs, *world) {
	w := start(t, p, outbox)
	if views != nil {
		w.Store = w.open(t, w.Views()[views[0]])
	}
	state := assert.Must(p.Tables(true, 1))(t).NewClient("state")
	enqueue := func(ctx context.Context, j reindex.Job) error {
		return p.Step(ctx, "POST", "/jobs", func(bool) error { q.put(j, p.Decide == nil); return nil }, func(int) error { return harness.ErrLost })
	}
	return assert.Must(reindex.NewRuns(w.Store, state, &reindex.RunsOptions{Enqueue: enqueue}))(t), w
}

func TestASharedRunIsLikeOneOnOneMachineWhateverHappensToItsWorkers(t *testing.T) {
	const errors = 30
	for _, mode := range []string{"verify", "repair", "backfill"} {
		t.Run(mode, func(t *testing.T) {
			crashes, passes, n := 0, 0, 150
			if mode == "backfill" {
				n = 80
			}
			// At least 4 runs, with -short 2, and as many more as it takes until enough workers have died.
			for seed := uint64(0); seed < uint64(harness.Sized(4, 2)) || mode != "backfill" && (crashes < harness.Sized(40, 10) || passes < 2); seed++ {
				if seed == 40 {
					t.Fatalf("%d crashes, %d passes: too few", crashes, passes)
				}
				synctest.Test(t, func(t *testing.T) {
					c, p := runShared(t, mode, seed, n, errors)
					crashes, passes = crashes+c, max(passes, p)
				})
			}
		})
	}
}

// runShared executes one run by several workers that crash.
func runShared(t *testing.T, mode string, seed uint64, n, errors int) (crashes, passes int) {
	a := account(t)
	outbox := new(countedQueue)
	q := &jobQueue{chance: rand.New(rand.NewPCG(seed, 3))}
	var only []int
	if mode == "backfill" {
		only = []int{1}
	}
	runs, w := sharedRuns(t, &harness.Process{Inner: a.Transport()}, outbox, q, only...)
	assert.NoError(t, runs.Create(t.Context()))
	w.fill(t, n, mode != "backfill")
	want := w.content(t)
	findings := map[reindex.Finding]bool{}
	opts := &reindex.Options{Parallel: 2, Segments: 6}
	if seed%2 == 1 && mode != "backfill" {
		opts.Differences, errors = 1, 4*errors // more than a sketch holds
	}
	if mode == "backfill" {
		alone := start(t, &harness.Process{Inner: account(t).Transport()}, new(countedQueue))
		alone.fill(t, n, false)
		alone.Store = alone.open(t, alone.Views()[1])
		assert.Must(reindex.Backfill(t.Context(), alone.Store, "badge", "", nil))(t)
		want = alone.content(t)
	} else {
		findings = w.damage(t, n, errors)
		checkFindings(t, seed, assert.All(t, reindex.Verify(t.Context(), w.Store, "", nil)), findings)
	}
	begin := func(runs *reindex.Runs) error {
		switch mode {
		case "verify":
			return runs.Verify(t.Context(), "a run", opts)
		case "repair":
			return runs.Repair(t.Context(), "a run", opts)
		}
		return runs.Backfill(t.Context(), "a run", "badge", opts)
	}

	chance := rand.New(rand.NewPCG(seed, 4))
	often := 60
	if mode == "backfill" {
		often = 5000 // a transaction of many entities takes hundreds of requests
	}
	var mu sync.Mutex
	var late sync.WaitGroup
	process := func() *harness.Process {
		return &harness.Process{Inner: a.Transport(), Late: &late, Decide: func(string, string) harness.Fate {
			mu.Lock()
			defer mu.Unlock()
			ms := func() time.Duration { return time.Duration(chance.IntN(200)) * time.Millisecond }
			f := harness.Fate{Before: ms(), After: ms(), Dies: chance.IntN(often) == 0, Late: time.Duration(chance.IntN(600)) * time.Second}
			if f.Dies || chance.IntN(often) == 0 {
				f.What = []harness.Delivery{harness.RequestLost, harness.ReplyLost, harness.ArrivesLate, harness.Twice}[chance.IntN(4)]
			}
			return f
		}}
	}
	// The first process may die while it starts the run.
	first, _ := sharedRuns(t, process(), outbox, q, only...)
	if err := begin(first); err != nil {
		if err := begin(runs); err != nil {
			assert.WantError(t, err, patterns.ErrExists)
			assert.NoError(t, runs.Resume(t.Context(), "a run"))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for ctx.Err() == nil {
				p := process()
				r, _ := sharedRuns(t, p, outbox, q, only...)
				for ctx.Err() == nil && !p.Dead() {
					j, ok := q.take()
					if !ok {
						_ = sleep(ctx, time.Minute)
						continue
					}
					if r.Do(ctx, j) == nil {
						q.remove(j)
					} else if p.Dead() {
						mu.Lock()
						crashes++
						mu.Unlock()
					}
				}
			}
		})
	}
	workers.Go(func() { // of the outbox
		for ctx.Err() == nil {
			if ok, _ := outbox.WorkOne(ctx, w, 10*time.Second); !ok {
				_ = sleep(ctx, time.Second)
			}
		}
	})
	status := func() reindex.Status { return assert.Must(runs.Status(t.Context(), "a run"))(t) }
	waits := 0
	for ; status().Stage != "complete" && waits < 500; waits++ {
		time.Sleep(10 * time.Minute)
		if _, some := q.take(); !some { // all messages were lost
			assert.NoError(t, runs.Resume(t.Context(), "a run"))
		}
	}
	stop()
	workers.Wait()
	late.Wait()

	for _, j := range slices.Concat(q.jobs, q.late) {
		assert.NoError(t, runs.Do(t.Context(), j))
	}
	s := status()
	r := s.Report
	if s.Stage != "complete" || r.Failed > 0 || mode == "verify" && r.Undecided > 0 || q.most < 3 {
		t.Errorf("seed %d: %v", seed, s)
	}
	got := assert.All(t, runs.Findings(t.Context(), "a run"))
	checkFindings(t, seed, got, findings)
	assert.Equal(t, r.Missing+r.Wrong+r.Orphan+r.Duplicate, len(findings), "seed", seed, "findings", s)
	if mode != "verify" {
		w.complete(t)
		checkContent(t, int(seed), w.content(t), want)
		assert.Equal(t, r.Repaired, len(findings), "seed", seed, s)
	}
	return crashes, r.Passes
}

func checkFindings(t testing.TB, seed uint64, got []reindex.Finding, want map[reindex.Finding]bool) {
	t.Helper()
	seen := map[reindex.Finding]bool{}
	for _, f := range got {
		if seen[f] || !want[f] {
			t.Errorf("seed %d: %v, which is no planted error, or is reported twice", seed, f)
		}
		seen[f] = true
	}
	assert.Equal(t, len(seen), len(want), "seed", seed, "findings")
}

func TestASharedRunTakesThreeRequestsForAJobAndTwoForAStageMoreThanOneOnOneMachine(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, mode := range []string{"verify", "repair", "backfill"} {
			w := newWorld(t, b)
			w.fill(t, 60, true)
			want := w.content(t)
			if mode == "backfill" {
				w = newWorld(t, b)
				w.fill(t, 60, false)
			} else {
				w.damage(t, 60, 20)
			}
			var queue []reindex.Job
			runs := assert.Must(reindex.NewRuns(w.Store, b.Table(t), &reindex.RunsOptions{Enqueue: func(_ context.Context, j reindex.Job) error {
				queue = append(queue, j)
				return nil
			}}))(t)
			opts := &reindex.Options{Segments: 1, Differences: 200}
			w.requests()
			switch mode {
			case "verify":
				assert.NoError(t, runs.Verify(t.Context(), mode, opts))
			case "repair":
				assert.NoError(t, runs.Repair(t.Context(), mode, opts))
			default:
				assert.NoError(t, runs.Backfill(t.Context(), mode, "city", opts))
			}
			jobs, confirming, stages := 0, 0, 0
			for ; len(queue) > 0; queue = queue[1:] {
				if assert.Must(runs.Status(t.Context(), mode))(t).Stage == "confirming" {
					confirming++
				}
				jobs, stages = jobs+1, max(stages, queue[0].Stage)
				assert.NoError(t, runs.Do(t.Context(), queue[0]))
			}
			sent := w.requests()
			s := assert.Must(runs.Status(t.Context(), mode))(t)
			sum := s.Report.Requests.Total()
			if mode == "verify" {
				sum -= s.Report.Requests.Repair
			}
			// The state is inserted, and read by the test before each job.
			if more := 1 + 2*(stages+1) + 3*jobs + confirming + jobs; s.Stage != "complete" || sent != sum+more {
				t.Errorf("%s: %d requests, want %d and %d of %d jobs in %d stages: %v", mode, sent, sum, more, jobs, stages, s)
			}
			if mode == "repair" && !reflect.DeepEqual(w.content(t), want) || mode == "backfill" && s.Report.Filled != 60 {
				t.Errorf("%s: the rows are not those that a Store stores: %v", mode, s)
			}
		}
	})
}
