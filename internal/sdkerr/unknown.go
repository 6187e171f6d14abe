package sdkerr

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// UnknownOutcome is [azerr.ErrOutcomeUnknown] with its causes. It matches the sentinels of its
// causes too, except those that describe a row, ErrExists, ErrConflict and ErrNotFound: a
// caller that tests for one of them first would take the write as refused.
type UnknownOutcome struct {
	Cause error // the response or error that leaves the outcome open
	Then  error // a later error of the same call, or nil
}

// StillUnknown returns later, the outcome of a later step of a call in which earlier
// occurred. If earlier matches [azerr.ErrOutcomeUnknown], so does the result, unless later is
// nil, which means that the call has succeeded after all. earlier may be nil.
func StillUnknown(earlier, later error) error {
	if later == nil || !errors.Is(earlier, azerr.ErrOutcomeUnknown) || errors.Is(later, azerr.ErrOutcomeUnknown) {
		return later
	}
	var u *UnknownOutcome
	if errors.As(earlier, &u) {
		earlier = u.Cause
	}
	return &UnknownOutcome{Cause: earlier, Then: later}
}

func (u *UnknownOutcome) Error() string {
	if u.Then != nil {
		return fmt.Sprintf("%v: %v; then: %v", azerr.ErrOutcomeUnknown, u.Cause, u.Then)
	}
	return fmt.Sprintf("%v: %v", azerr.ErrOutcomeUnknown, u.Cause)
}

// Format adds the SDK's full text for %+v only.
func (u *UnknownOutcome) Format(f fmt.State, verb rune) {
	switch plus := verb == 'v' && f.Flag('+'); {
	case plus && u.Then != nil:
		fmt.Fprintf(f, "%v: %+v; then: %+v", azerr.ErrOutcomeUnknown, u.Cause, u.Then)
	case plus:
		fmt.Fprintf(f, "%v: %+v", azerr.ErrOutcomeUnknown, u.Cause)
	default:
		io.WriteString(f, u.Error())
	}
}

// LogValue omits from logs what only %+v prints.
func (u *UnknownOutcome) LogValue() slog.Value { return azerr.LogValue(u) }

func (u *UnknownOutcome) Unwrap() []error {
	errs := []error{azerr.ErrOutcomeUnknown, uncertain(u.Cause)}
	if u.Then != nil {
		errs = append(errs, uncertain(u.Then))
	}
	return errs
}

// certainOnly are the sentinels that an unknown outcome does not match.
var certainOnly = []error{azerr.ErrExists, azerr.ErrConflict, azerr.ErrNotFound}

// uncertain returns err without the sentinels in certainOnly.
func uncertain(err error) error {
	if e, ok := err.(*types.Error); ok && slices.Contains(certainOnly, e.Kind) {
		return WithKind(e, nil)
	}
	return undecided{err}
}

// undecided hides the sentinels in certainOnly, however deep they are.
type undecided struct{ error }

func (u undecided) Is(target error) bool {
	return !slices.Contains(certainOnly, target) && errors.Is(u.error, target)
}

func (u undecided) As(target any) bool { return errors.As(u.error, target) }
