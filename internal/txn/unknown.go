package txn

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// UnknownOutcome is [azerr.ErrOutcomeUnknown] with its causes. It matches the sentinels
// of the service's response too, except those that describe the row, ErrExists,
// ErrNotFound and ErrConflict: a caller that tests for one of them first would take the
// write as refused.
type UnknownOutcome struct {
	Cause *azerr.Error // the response that leaves the outcome open
	Then  error        // why the row could not be read again, or nil
}

func (u *UnknownOutcome) Error() string {
	if u.Then != nil {
		return fmt.Sprintf("%v: %v; reading the row again: %v", azerr.ErrOutcomeUnknown, u.Cause, u.Then)
	}
	return fmt.Sprintf("%v: %v", azerr.ErrOutcomeUnknown, u.Cause)
}

// Format adds the SDK's full text for %+v only.
func (u *UnknownOutcome) Format(f fmt.State, verb rune) {
	switch plus := verb == 'v' && f.Flag('+'); {
	case plus && u.Then != nil:
		fmt.Fprintf(f, "%v: %+v; reading the row again: %+v", azerr.ErrOutcomeUnknown, u.Cause, u.Then)
	case plus:
		fmt.Fprintf(f, "%v: %+v", azerr.ErrOutcomeUnknown, u.Cause)
	default:
		io.WriteString(f, u.Error())
	}
}

// LogValue omits from logs what only %+v prints.
func (u *UnknownOutcome) LogValue() slog.Value { return azerr.LogValue(u) }

func (u *UnknownOutcome) Unwrap() []error {
	cause := u.Cause
	for _, kind := range []error{azerr.ErrExists, azerr.ErrNotFound, azerr.ErrConflict} {
		if errors.Is(cause, kind) {
			cause = cause.WithKind(nil)
		}
	}
	errs := []error{azerr.ErrOutcomeUnknown, cause}
	if u.Then != nil {
		errs = append(errs, u.Then)
	}
	return errs
}
