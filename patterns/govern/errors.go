package govern

import (
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// ErrRetryBudget is the error of a request that failed and is not tried again, because retries
// are at [Options.RetryShare] of all requests to the account. The error also matches that of the failure, with
// errors.As the *azcore.ResponseError of the reply.
var ErrRetryBudget = azerr.Sentinel("retry budget is used up")

// WaitError is the error of a request that would have to wait longer than its context permits.
// Nothing was sent. It matches context.DeadlineExceeded, or context.Canceled if the context was
// canceled during the wait; the SDK then returns only the error of the context.
type WaitError struct {
	// Wait estimates for how long the request would have to wait.
	Wait time.Duration

	err error
}

// Error returns a text without keys and values.
func (e *WaitError) Error() string {
	return "govern: not sent: the limit permits it in " + e.Wait.Round(time.Millisecond).String() + ": " + e.err.Error()
}

// Unwrap returns the error of the context.
func (e *WaitError) Unwrap() error { return e.err }

func waitError(wait time.Duration, err error) error {
	return azerr.Unsent(&WaitError{Wait: wait, err: err})
}
