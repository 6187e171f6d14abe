package calls_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/calls"
)

// sharing records the calls that were carried out, each of which takes a second.
type sharing struct {
	calls.Shared[string, int, string]
	mu   sync.Mutex
	done []string
	err  error
}

func (s *sharing) call(ctx context.Context, key string, item int) (string, error) {
	return s.Call(ctx, key, item, func(items []int) bool { return len(items) <= 3 }, func(_ context.Context, items []int) (string, error) {
		time.Sleep(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		slices.Sort(items)
		s.done = append(s.done, fmt.Sprint(key, items))
		return fmt.Sprint(items), s.err
	})
}

// each makes calls at the given times, and returns their results.
func (s *sharing) each(t *testing.T, key string, at ...time.Duration) []string {
	results := make([]string, len(at))
	var all sync.WaitGroup
	for i, after := range at {
		all.Go(func() {
			time.Sleep(after)
			r, err := s.call(t.Context(), key, i)
			results[i] = r
			assert.Equal(t, errors.Is(err, s.err), true)
		})
	}
	all.Wait()
	return results
}

func TestCallsThatBeginWhileOneIsInFlightBecomeOne(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		wait    time.Duration
		err     error
		at      []time.Duration
		results []string
		done    []string
		took    time.Duration
	}{
		"one":                {at: []time.Duration{0}, results: []string{"[0]"}, done: []string{"k[0]"}, took: time.Second},
		"one after another":  {at: []time.Duration{0, 1100 * ms}, results: []string{"[0]", "[1]"}, done: []string{"k[0]", "k[1]"}, took: 2100 * ms},
		"two during one":     {at: []time.Duration{0, 100 * ms, 900 * ms}, results: []string{"[0]", "[1 2]", "[1 2]"}, done: []string{"k[0]", "k[1 2]"}, took: 2 * time.Second},
		"more than fit":      {at: []time.Duration{0, 1 * ms, 2 * ms, 3 * ms, 500 * ms}, results: []string{"[0]", "[1 2 3]", "[1 2 3]", "[1 2 3]", "[4]"}, done: []string{"k[0]", "k[4]", "k[1 2 3]"}, took: 2 * time.Second},
		"with a wait":        {wait: 10 * ms, at: []time.Duration{0, 5 * ms}, results: []string{"[0 1]", "[0 1]"}, done: []string{"k[0 1]"}, took: 1010 * ms},
		"of a failed call":   {err: errors.New("no"), at: []time.Duration{0, 1 * ms, 2 * ms}, results: []string{"[0]", "[1 2]", "[1 2]"}, done: []string{"k[0]", "k[1 2]"}, took: 2 * time.Second},
		"wait, one by one":   {wait: 10 * ms, at: []time.Duration{0, 2 * time.Second}, results: []string{"[0]", "[1]"}, done: []string{"k[0]", "k[1]"}, took: 3010 * ms},
		"a third generation": {at: []time.Duration{0, 500 * ms, 1500 * ms}, results: []string{"[0]", "[1]", "[2]"}, done: []string{"k[0]", "k[1]", "k[2]"}, took: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sharing{err: c.err}
				s.Wait = c.wait
				began := time.Now()
				assert.Equal(t, fmt.Sprint(s.each(t, "k", c.at...)), fmt.Sprint(c.results))
				assert.Equal(t, fmt.Sprint(s.done), fmt.Sprint(c.done))
				assert.Equal(t, time.Since(began), c.took)
			})
		})
	}
}

func TestCallsWithDifferentKeysAreSeparate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sharing{}
		began := time.Now()
		var all sync.WaitGroup
		for i, key := range []string{"a", "b", "c"} {
			all.Go(func() {
				_, err := s.call(t.Context(), key, i)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		assert.Equal(t, time.Since(began), time.Second)
	})
}

// The call goes on for the others, also if the first of them ends.
func TestACallerMayEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sharing{}
		ended, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { _, _ = s.call(t.Context(), "k", 0) })
		synctest.Wait()
		all.Go(func() {
			_, err := s.call(ended, "k", 1)
			assert.WantError(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		all.Go(func() {
			r, err := s.call(t.Context(), "k", 2)
			assert.NoError(t, err)
			assert.Equal(t, r, "[1 2]")
		})
		all.Wait()
	})
}
