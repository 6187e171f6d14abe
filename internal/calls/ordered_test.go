package calls_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/calls"
)

func TestResultsAreYieldedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := 0
		for got, err := range calls.Ordered(t.Context(), 50, calls.Window{Start: 8, Max: 8}, func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(50-i) * time.Second) // in virtual time; later calls finish first
			return i, nil
		}) {
			assert.NoError(t, err)
			assert.Equal(assert.Now(t), got, next)
			next++
		}
		assert.Equal(assert.Now(t), next, 50, "results, want 50")
	})
}

func TestTheWindowGrowsAndLimitsTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, now, most atomic.Int32
		fetch := func(_ context.Context, i int) (int, error) {
			made.Add(1)
			for n := now.Add(1); ; {
				m := most.Load()
				if n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return i, nil
		}
		for range calls.Ordered(t.Context(), 100, calls.Window{Start: 1, Max: 4}, fetch) {
			break
		}
		assert.Equal(t, made.Load(), 1, "calls for a consumer that stopped at the first result, want 1")
		for range calls.Ordered(t.Context(), 100, calls.Window{Start: 1, Max: 4}, fetch) {
		}
		assert.Equal(t, most.Load(), 4, "concurrent calls, want 4")
		assert.Equal(t, made.Load(), 101, "calls, want 101")
	})
}

func TestTheWindowDoesNotOverflow(t *testing.T) {
	for _, start := range []int{1, math.MaxInt/2 + 1, math.MaxInt} {
		got := 0
		wanted := calls.Window{Start: start, Max: math.MaxInt, Want: func() int { return 1 }}
		for range calls.Ordered(t.Context(), 100, wanted, func(_ context.Context, i int) (int, error) { return i, nil }) {
			got++
		}
		assert.Equal(t, got, 100, "Start", start, "results, want 100")
	}
}

func TestTheFirstErrorEndsTheLoopAndCancelsTheOtherCalls(t *testing.T) {
	boom := errors.New("boom")
	for _, limit := range []int{1, 4} {
		var seen []int
		var last error
		for i, err := range calls.Ordered(t.Context(), 10, calls.Window{Start: limit, Max: limit}, func(ctx context.Context, i int) (int, error) {
			if i == 2 {
				return i, boom
			}
			if i > 2 {
				<-ctx.Done() // ends only if it is cancelled
				return i, ctx.Err()
			}
			return i, nil
		}) {
			seen, last = append(seen, i), err
		}
		assert.Equal(assert.Now(t), len(seen), 3)
		assert.WantError(t, last, boom)
	}
}
