package regions_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/query"
)

// network returns how long replies take: 8 to 12 ms, and one of each slow replies of a region
// 100 times as long. 0 means none.
func network(slow int) func(regions.Region) time.Duration {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	n := map[regions.Region]int{}
	return func(region regions.Region) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		d := time.Duration(8e6 + random.Int64N(4e6))
		if n[region]++; slow > 0 && n[region]%slow == slow/2 {
			d *= 100
		}
		return d
	}
}

// with adds a delay to the replies of the primary.
func with(delay func(regions.Region) time.Duration, more time.Duration) func(regions.Region) time.Duration {
	return func(region regions.Region) time.Duration {
		if region == regions.Primary {
			return delay(region) + more
		}
		return delay(region)
	}
}

// percentile returns a percentile of sorted durations, by nearest rank.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[int(math.Ceil(float64(len(sorted))*p/100))-1]
}

func TestSlowRepliesAreHedgedWithinTheBudget(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(network(100))
		w.warm(t, r, 200)
		const reads = 5000
		plain := w.latencies(t, regions.Strict(t.Context()), r, reads)
		w.warm(t, r, 200)
		took := w.latencies(t, t.Context(), r, reads)
		hedges := float64(w.sent[toPrimary].Load()+w.sent[toSecondary].Load()-reads) / reads
		median := percentile(took, 50)
		t.Logf("%d reads, 1 %% of replies 100 times slower: median %v, p99 %v, p99.9 %v, with %.1f %% more requests; without the pair %v, %v, %v", reads,
			median, percentile(took, 99), percentile(took, 99.9), 100*hedges, percentile(plain, 50), percentile(plain, 99), percentile(plain, 99.9))
		if p99 := percentile(took, 99); p99 > 2*median {
			t.Errorf("p99 is %.2f times the median", float64(p99)/float64(median))
		}
		if percentile(took, 99.9) > 3*median || percentile(plain, 99.9) < 50*median {
			t.Error("p99.9 shows no effect of hedges")
		}
		if hedges > 0.05 || w.sent[toSecondary].Load() == 0 {
			t.Errorf("%.1f %% more requests", 100*hedges)
		}
	})
}

// latencies makes n reads, ten at a time, and returns how long they took, sorted.
func (w *world) latencies(t *testing.T, ctx context.Context, r row, n int) (took []time.Duration) {
	const readers = 10
	var mu sync.Mutex
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			for range n / readers {
				began := time.Now()
				if err := get(ctx, w, r); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(took)
	return took
}

func TestHedgesStayWithinTheBudgetIfAllRepliesBecomeSlow(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(network(0))
		w.warm(t, r, 300)
		w.take(with(network(0), 300*time.Millisecond))
		for range 1000 {
			assert.Must(w.table.Get(t.Context(), r.key()))(t)
		}
		primary, secondary := w.sent[toPrimary].Load(), w.sent[toSecondary].Load()
		t.Logf("%d requests to the primary, %d to the secondary", primary, secondary)
		if primary != 1000 || secondary > 1300/20 {
			t.Errorf("%d requests to the primary, %d to the secondary", primary, secondary)
		}
	})
}

func TestAPrimaryThatDoesNotReplyIsFoundToBeDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(network(0))
		w.warm(t, r, 300)
		w.take(with(network(0), time.Hour))
		var took []time.Duration
		for range 1000 {
			began := time.Now()
			assert.Must(w.table.Get(t.Context(), r.key()))(t)
			took = append(took, time.Since(began))
		}
		slow := 0
		for _, d := range took {
			if d > 30*time.Millisecond {
				slow++
			}
		}
		t.Logf("slowest %v, %d of 1000 reads over 30 ms", slices.Max(took), slow)
		if slices.Max(took) > 1200*time.Millisecond || slow > 3 {
			t.Errorf("%d slow reads, the slowest took %v", slow, slices.Max(took))
		}
		time.Sleep(10 * time.Second) // a probe may wait for the primary
	})
}

func TestReadsInFlightDoNotWaitForAPrimaryThatWentDown(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		w.take(with(network(0), time.Hour))
		began := time.Now()
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() { assert.NoError(t, get(t.Context(), w, r)) })
		}
		group.Wait()
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

func TestALongReadIsNoOutageIfThePrimaryAnswersOthers(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		r := w.insert(t, 1, 1)[0]
		w.replicate()
		var first atomic.Bool
		w.take(func(regions.Region) time.Duration {
			if first.CompareAndSwap(false, true) {
				return 5 * time.Second
			}
			return 10 * time.Millisecond
		})
		var group sync.WaitGroup
		group.Go(func() { assert.MayFail(w.table.Get(t.Context(), r.key())) })
		for range 10 {
			time.Sleep(400 * time.Millisecond)
			assert.Must(w.table.Get(t.Context(), r.key()))(t)
		}
		group.Wait()
		w.wantRequests(t, 11, 0, 0)
	})
}

// TestSlowPagesAreHedgedWithinTheBudget reads the pages after the first, which have a continuation
// token of their region.
func TestSlowPagesAreHedgedWithinTheBudget(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		const pages = 2000
		all := w.insert(t, 1, pages/10)
		w.replicate()
		f := query.PartitionKey.Eq("p00")
		read := func(ctx context.Context) (took []time.Duration, sources map[regions.Region]int) {
			sources = map[regions.Region]int{}
			for range 10 {
				var got []row
				for cursor := ""; ; {
					began := time.Now()
					page := assert.Must(w.table.Page(ctx, f, cursor, &patterns.QueryOptions{PageSize: 1}))(t)
					took = append(took, time.Since(began))
					sources[page.Region]++
					for _, item := range page.Items {
						got = append(got, item.Value)
					}
					if cursor = page.Cursor; cursor == "" {
						break
					}
				}
				assert.EqualSlices(assert.Now(t), got, all, len(got), "rows, want", len(all), "each once")
			}
			slices.Sort(took)
			return took, sources
		}
		w.take(network(100))
		plain, _ := read(regions.Strict(t.Context()))
		read(t.Context())
		w.reset()
		took, sources := read(t.Context())
		median, sent := percentile(took, 50), w.sent[toPrimary].Load()+w.sent[toSecondary].Load()
		t.Logf("%d pages, 1 %% of replies 100 times slower: median %v, p99 %v, p99.9 %v with %d requests, %v; strict: p99.9 %v", len(took),
			median, percentile(took, 99), percentile(took, 99.9), sent, sources, percentile(plain, 99.9))
		if percentile(took, 99.9) > 3*median || percentile(plain, 99.9) < 50*median {
			t.Error("p99.9 shows no effect of hedges")
		}
		if float64(sent) > 1.05*float64(len(took)) || sources[regions.Secondary] == 0 {
			t.Errorf("%d requests for %d pages, from %v", sent, len(took), sources)
		}
		assert.Equal(t, w.foreign.Load(), 0, "a continuation token was used in the other region")
	})
}

func TestSlowPagesOfAScanAreRequestedAgainFromTheSameRegion(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		all := w.insert(t, 1, 1000)
		w.replicate()
		w.take(network(100))
		opts := &patterns.QueryOptions{PageSize: 1, Parallel: 1}
		scan := func(ctx context.Context) (took time.Duration) {
			began := time.Now()
			var got []row
			for page, err := range w.table.Scan(ctx, query.Filter{}, "", opts) {
				assert.NoError(t, err)
				assert.Equal(t, page.Region, regions.Primary, "a page from the")
				for _, item := range page.Items {
					got = append(got, item.Value)
				}
			}
			wantOnce(t, query.Filter{}, all, nil, got)
			return time.Since(began)
		}
		plain := scan(regions.Strict(t.Context()))
		scan(t.Context())
		w.reset()
		took := scan(t.Context())
		t.Logf("1000 pages, 1 %% of replies 100 times slower: %v with %d requests; strict: %v", took, w.sent[toPrimary].Load(), plain)
		if took > plain*6/10 || w.sent[toSecondary].Load() > 0 || w.sent[toPrimary].Load() > 1060 { // ten hedges may be saved up
			t.Errorf("took %v, strict %v: %d requests to the primary, %d to the secondary", took, plain, w.sent[toPrimary].Load(), w.sent[toSecondary].Load())
		}
	})
}
