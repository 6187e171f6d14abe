package types

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Error is a request to a table, queue or blob that the service refused, or that got no
// response. It matches Kind with [errors.Is], and the SDK's *azcore.ResponseError with
// [errors.As]. The message contains neither keys nor values; the verb %+v prints the
// SDK's full text, which contains both.
type Error struct {
	Op     string // "insert", "query", "put message", …
	Status int    // HTTP status, 0 if no response came
	Code   string // error code of the service, "" if no response came

	// Unsure means that the request may have been applied all the same: no definite
	// response came, or an earlier attempt of the same call got none.
	Unsure bool

	// Unanswered means that an attempt of an Unsure request may have got no response at
	// all. It may still be applied, later than anything that is read now.
	Unanswered bool

	Kind error // the sentinel that status and code mean, or nil
	Err  error // what the SDK returned, or nil
}

func (e *Error) Error() string {
	switch {
	case e.Status != 0 && e.Kind != nil:
		return fmt.Sprintf("%s: %v (%d %s)", e.Op, e.Kind, e.Status, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("%s: refused by the service (%d %s)", e.Op, e.Status, e.Code)
	case e.Kind != nil:
		return fmt.Sprintf("%s: %v: %s", e.Op, e.Kind, azerr.Describe(e.Err))
	}
	return e.Op + ": " + azerr.Describe(e.Err)
}

// Format prints the SDK's full text, keys included, for %+v only.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') && e.Err != nil {
		fmt.Fprintf(f, "%s\n%v", e.Error(), e.Err)
		return
	}
	io.WriteString(f, e.Error())
}

// LogValue omits from logs what only %+v prints.
func (e *Error) LogValue() slog.Value { return azerr.LogValue(e) }

// Unwrap returns the sentinel and the SDK's error.
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, 2)
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}
