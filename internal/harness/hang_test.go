package harness

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAHangEndsAfterTheLimitWithoutProgress(t *testing.T) {
	for _, c := range []struct {
		name            string
		works, stops    time.Duration // how long there is progress, and when the test ends; 0: never
		latest, atLeast time.Duration // of the end by hung
	}{
		{"a test that hangs from its start", 0, 0, hangLimit, hangLimit},
		{"a test that hangs after some work", 3*hangLimit + time.Second, 0, 5 * hangLimit, 4 * hangLimit},
		{"a test that ends", 3 * hangLimit, 3 * hangLimit, 0, 0},
		{"a test that ends early", 0, hangLimit - 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests atomic.Int64
				var after atomic.Int64
				began := time.Now()
				stop := onHang(func() int { return int(requests.Load()) }, func() { after.Store(int64(time.Since(began))) })
				for time.Since(began) < c.works {
					requests.Add(1)
					time.Sleep(time.Second)
				}
				if c.stops > 0 {
					time.Sleep(c.stops - time.Since(began))
					stop()
				}
				time.Sleep(10 * hangLimit)
				if got := time.Duration(after.Load()); got < c.atLeast || got > c.latest {
					t.Errorf("ended after %v, want %v to %v", got, c.atLeast, c.latest)
				}
			})
		})
	}
}
