package calls

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits before an operation is retried after a write conflict. The time is random,
// less than 10 ms times 2^try, and less than 1 s. Pause returns the error of ctx if ctx ends
// before that.
func Pause(ctx context.Context, try int) error {
	return Sleep(ctx, rand.N(min(10*time.Millisecond<<min(try, 10), time.Second)))
}

// Sleep waits until d has passed. It returns the error of ctx if ctx ends before that.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
