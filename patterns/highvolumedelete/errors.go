package highvolumedelete

import (
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// ErrDropped: the period of a write has been dropped, or may be at any moment. See
// [DroppedError].
var ErrDropped = errors.New("the period has been dropped")

// ErrBadName: the prefix cannot begin the names of tables.
var ErrBadName = errors.New("not a prefix of table names")

// ErrBadOption: an option is out of range, or missing.
var ErrBadOption = errors.New("bad option")

// DroppedError is a write that was refused because the table of its period has been
// dropped. It matches [ErrDropped].
type DroppedError struct {
	Table string    // that the write was for
	From  time.Time // its period: from here
	To    time.Time // up to here, without it

	// Limit is the beginning of the oldest period that takes writes; zero where none
	// is known.
	Limit time.Time

	// Deleting says that the service is deleting the table at this moment, and keeps
	// its name for 40 seconds or more. Where the period is not before Limit, a later
	// write makes the table anew.
	Deleting bool

	err error // of the service, nil where nothing was sent
}

func (e *DroppedError) Error() string {
	switch {
	case e.Deleting:
		return fmt.Sprintf("table %s: %v: it is being deleted", e.Table, ErrDropped)
	case e.From.Before(e.Limit):
		return fmt.Sprintf("table %s: %v: periods from %s on take writes", e.Table, ErrDropped, e.Limit.Format(time.RFC3339))
	}
	return fmt.Sprintf("table %s: %v: it was there and is gone", e.Table, ErrDropped)
}

// Is reports whether target is [ErrDropped].
func (e *DroppedError) Is(target error) bool { return target == ErrDropped }

// Unwrap gives the answer of the service that led to the refusal, if there was one.
func (e *DroppedError) Unwrap() error { return e.err }

// beingDeleted is the code of the service for a name that is not free yet.
const beingDeleted = "TableBeingDeleted"

func isBeingDeleted(err error) bool {
	var e *patterns.Error
	return errors.As(err, &e) && e.Code == beingDeleted
}
