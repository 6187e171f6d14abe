package fault

import (
	"errors"
	"syscall"
)

// ErrLost is matched by the error of every request whose answer never came,
// whether it was carried out or not.
var ErrLost = errors.New("the connection was lost before an answer came")

// LostError is what the sender of a lost request or of a lost reply gets. It
// matches [ErrLost] and, like the error of a broken socket, ECONNRESET. It
// does not say whether the request was carried out: a sender cannot know.
type LostError struct{ Op Op }

func (e *LostError) Error() string { return string(e.Op) + ": " + ErrLost.Error() }

// Unwrap makes the error match ErrLost and syscall.ECONNRESET.
func (e *LostError) Unwrap() []error { return []error{ErrLost, syscall.ECONNRESET} }
