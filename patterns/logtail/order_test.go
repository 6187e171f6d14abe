package logtail_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/logtail"
)

// ages returns times at the limits of encodings: of .NET ticks, of the service's DateTime, and of
// Go's UnixNano, each with its neighbouring tick.
func ages() []time.Time {
	const tick = 100 * time.Nanosecond
	at := func(year int, month time.Month, d int) time.Time {
		return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
	}
	return []time.Time{
		at(1, 1, 1),
		at(1, 1, 1).Add(tick),
		at(1601, 1, 1).Add(-tick),
		at(1601, 1, 1),
		time.Date(1677, 9, 21, 0, 12, 43, 145_224_100, time.UTC),
		time.Date(1677, 9, 21, 0, 12, 43, 145_224_200, time.UTC),
		at(1970, 1, 1).Add(-tick),
		at(1970, 1, 1),
		day(1),
		day(1).Add(tick),
		time.Date(2262, 4, 11, 23, 47, 16, 854_775_800, time.UTC),
		time.Date(2262, 4, 11, 23, 47, 16, 854_775_900, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_800, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC),
	}
}

func TestTheNewestEntryComesFirstAtAllTimes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 3} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime, Buckets: buckets})
			times := ages()
			for i := range times { // in no particular order
				k := i * 5 % len(times)
				appended(t, log, "s", claim{What: times[k].String(), At: times[k]})
			}
			es := assert.All(t, log.Tail(t.Context(), "s", 1000))
			assert.Equal(assert.Now(t), len(es), len(times), "read", "of")
			slices.Reverse(times)
			for i, e := range es {
				if !e.Time.Equal(times[i]) || e.Value.What != times[i].String() {
					t.Errorf("%d buckets: position %d: %v (%s), want %v", buckets, i, e.Time, e.Value.What, times[i])
				}
			}
		}
	})
}

func TestAppendsKeepTheirOrderWhateverTheClockDoes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 3} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: buckets})
			var now time.Time
			logtail.SetClock(log, func() time.Time { return now })
			var want []string
			var last logtail.Entry[claim]
			for i, step := range []time.Duration{
				0, 0, 0, // does not advance
				50, 50, // moves within one tick
				100,
				-time.Hour, -1, 0, // is set back
				time.Minute, // advances, still before the latest entry
				2 * time.Hour,
			} {
				if i == 0 {
					now = day(1)
				}
				now = now.Add(step)
				e := appended(t, log, "s", claim{What: fmt.Sprint(i)})
				if e.Time.Before(last.Time) {
					t.Errorf("entry %d has the time %v, before the entry before it", i, e.Time)
				}
				if e.Key.Row >= last.Key.Row && i > 0 {
					t.Errorf("entry %d has a row key after that of the entry before it", i)
				}
				last = e
				want = slices.Insert(want, 0, fmt.Sprint(i))
			}
			wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 100)), want...)
			if !last.Time.Equal(now.Truncate(100)) {
				t.Errorf("the clock is ahead again, and the entry's time is %v", last.Time)
			}
		}
	})
}

// In synctest, time does not advance while a goroutine runs.
func TestAppendsOfOneInstantKeepTheirOrder(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: 5})
		synctest.Test(t, func(t *testing.T) {
			var want []string
			for i := range 50 {
				appended(t, log, "s", claim{What: fmt.Sprint(i)})
				want = slices.Insert(want, 0, fmt.Sprint(i))
			}
			es := assert.All(t, log.Tail(t.Context(), "s", 50))
			wantOrder(t, es, want...)
			if !es[0].Time.Equal(time.Now()) || !es[49].Time.Equal(time.Now()) {
				t.Errorf("times from %v to %v", es[49].Time, es[0].Time)
			}
		})
	})
}

// Entries of the same time are still ordered latest append first.
func TestOptionsTimeDecidesTheOrder(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime})
		for _, c := range []claim{
			{What: "c", At: day(3)}, {What: "a", At: day(1)}, {What: "b1", At: day(2)}, {What: "b2", At: day(2).Add(99)}, {What: "b3", At: day(2)},
		} {
			appended(t, log, "s", c)
		}
		wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 10)), "c", "b3", "b2", "b1", "a")
	})
}

func TestConcurrentAppendsLoseNothing(t *testing.T) {
	const writers, each = 8, 25
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		opts := &logtail.Options[claim]{Buckets: 3}
		logs := []*logtail.Log[claim]{newLog(t, client, opts), newLog(t, client, opts)}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				log := logs[w%len(logs)]
				for i := range each {
					assert.Equal(t, assert.ErrorOf(log.Append(t.Context(), "s", &claim{What: fmt.Sprint(w), Amount: float64(i)})), nil)
					for _, err := range log.Tail(t.Context(), "s", 5) {
						assert.Equal(t, err, nil)
					}
				}
			})
		}
		wg.Wait()
		next := make(map[string]float64)
		es := assert.All(t, logs[0].Since(t.Context(), "s", time.Time{}))
		assert.Equal(t, len(es), writers*each, "entries")
		for _, e := range slices.Backward(es) {
			assert.Equal(assert.Now(t), e.Value.Amount, next[e.Value.What], "writer", e.Value.What, "entry")
			next[e.Value.What]++
		}
	})
}
