package regions

import (
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/patterns"
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

// notFound returns err as an AbsentError if only the secondary answered that the row does not
// exist.
func notFound(err error, s Source) error {
	if s.Region != Secondary || !errors.Is(err, patterns.ErrNotFound) && !errors.Is(err, patterns.ErrTableNotFound) {
		return err
	}
	var refused *azcore.ResponseError
	if errors.As(err, &refused) { // not the error of package patterns
		err = refused
	}
	return &AbsentError{s.MaxAge, err}
}

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
