package highvolumedelete

import (
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

var (
	// ErrDropped means that the period of a write has been dropped, or may be dropped at any
	// moment. See [DroppedError].
	ErrDropped = azerr.Sentinel("the period has been dropped")

	// ErrBadName means that a prefix cannot be part of table names.
	ErrBadName = azerr.Sentinel("invalid prefix of table names")
)

// DroppedError reports a write that was refused because the table of its period has been
// dropped. It matches [ErrDropped].
type DroppedError struct {
	Table string    // name of the table
	From  time.Time // start of its period
	To    time.Time // end of its period, exclusive

	// Limit is the start of the oldest period that accepts writes, zero if none is known.
	Limit time.Time

	// Deleting reports that the service is deleting the table now, which blocks its name for
	// 40 seconds or more. If the period is not before Limit, a later write creates the table
	// again.
	Deleting bool

	err error // reply of the service, nil if no request was made
}

func (e *DroppedError) Error() string {
	switch {
	case e.Deleting:
		return fmt.Sprintf("table %s: %v: it is being deleted", e.Table, ErrDropped)
	case e.From.Before(e.Limit):
		return fmt.Sprintf("table %s: %v: writes are accepted from %s on", e.Table, ErrDropped, e.Limit.Format(time.RFC3339))
	}
	return fmt.Sprintf("table %s: %v: it existed and does not exist now", e.Table, ErrDropped)
}

// Is reports whether target is [ErrDropped].
func (e *DroppedError) Is(target error) bool { return target == ErrDropped }

// Unwrap returns the reply of the service, or nil if no request was made.
func (e *DroppedError) Unwrap() error { return e.err }

// beingDeleted is the service's error code for a name that is still blocked.
const beingDeleted = "TableBeingDeleted"

func isBeingDeleted(err error) bool {
	var e *patterns.Error
	return errors.As(err, &e) && e.Code == beingDeleted
}
