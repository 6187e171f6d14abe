package parallel

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits before the next try after a lost race: a random part of 10 ms times
// 2^try, at most of 1 s.
func Pause(ctx context.Context, try int) error {
	limit := min(10*time.Millisecond<<min(try, 10), time.Second)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
