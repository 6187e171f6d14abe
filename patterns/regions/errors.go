package regions

import (
	"fmt"
	"time"
)

// AbsentError means that the secondary does not have the row, or the table, and that the
// primary is down. The row may exist: it may have been inserted in the last MaxAge. So
// the error does not match [patterns.ErrNotFound], which a reader may take as proof.
type AbsentError struct {
	MaxAge time.Duration // that of [Source]
	Err    error         // the *azcore.ResponseError of the secondary
}

// Error does not contain the key.
func (e *AbsentError) Error() string {
	if e.MaxAge == UnknownAge {
		return "regions: not on the secondary, whose age is unknown"
	}
	return fmt.Sprintf("regions: not on the secondary, which is up to %v old", e.MaxAge)
}

// Unwrap returns the error of the SDK, for errors.As.
func (e *AbsentError) Unwrap() error { return e.Err }

// movedError is the failure of a region that alone could answer a request. The read can be
// continued by keys in the other region.
type movedError struct {
	region Region
	err    error
}

func (e *movedError) Error() string { return "regions: the " + string(e.region) + " failed" }
func (e *movedError) Unwrap() error { return e.err }

// NonRetriable keeps the SDK from trying again.
func (e *movedError) NonRetriable() {}
