package eventual

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

var (
	// ErrLost is the cause with which a handler's context ends when its message is
	// no longer this worker's: the visibility could not be renewed, and another
	// worker has the message or is about to get it. Stop, and leave the rest to it.
	ErrLost = errors.New("message is another worker's now")

	// ErrStopped is the cause with which a handler's context ends when the worker
	// stops hard. The message is shown again at once; the attempt does not count, but
	// see [Job.Attempt].
	ErrStopped = errors.New("worker stopped")

	// ErrClaimGone: the blob with the payload does not exist. The message is a
	// duplicate of one that was handled already, or the blob was swept too early.
	ErrClaimGone = errors.New("claim check: blob is gone")

	// ErrClaimDamaged: the blob with the payload has another length or SHA-256 than
	// its message says.
	ErrClaimDamaged = errors.New("claim check: blob is not what was stored")

	// ErrNotHeld: a dead message was listed by Peek, which gives no right to change
	// it. Use [Poison.Take].
	ErrNotHeld = errors.New("message was only looked at")

	// ErrSuperseded: the row to be moved is not the one that was meant: it was
	// changed or created anew since. Nothing was moved.
	ErrSuperseded = errors.New("row is not the one to be moved")

	// ErrBadKind: the kind of a job is empty, too long, reserved or taken, or its
	// handler is nil.
	ErrBadKind = errors.New("bad kind")
)

// errTaken: the receipt is not the message's current one, or the message is gone.
var errTaken = errors.New("taken over")

// Error is a request to a queue or a blob that was refused, or got no answer.
// Messages hold neither names nor contents; the verb %+v prints the SDK's full text.
type Error struct {
	Op     string // "put message", …
	Status int    // HTTP status, 0 when no reply came
	Code   string // error code of the service, "" when no reply came

	kind   error
	err    error
	unsure bool // a try before the last may have been carried out
}

func (e *Error) Error() string {
	switch {
	case e.Status != 0 && e.unsure:
		return fmt.Sprintf("%s: %v: refused by the service (%d %s), and a try before may have been carried out", e.Op, patterns.ErrOutcomeUnknown, e.Status, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("%s: refused by the service (%d %s)", e.Op, e.Status, e.Code)
	case e.kind != nil:
		return fmt.Sprintf("%s: %v", e.Op, e.kind)
	}
	return e.Op + ": no answer"
}

// Format prints the SDK's full text for %+v only.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "%s\n%v", e.Error(), e.err)
		return
	}
	io.WriteString(f, e.Error())
}

// LogValue keeps from a log what only %+v tells.
func (e *Error) LogValue() slog.Value { return azerr.LogValue(e) }

// Unwrap gives the sentinels that it means, if any, and the SDK's error.
func (e *Error) Unwrap() []error {
	all := []error{e.err}
	if e.kind != nil {
		all = append(all, e.kind)
	}
	if e.unsure {
		all = append(all, patterns.ErrOutcomeUnknown)
	}
	return all
}

// fail says what err of the SDK means. A write without a definite answer may have
// been carried out.
func fail(op string, err error, write bool) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, err: err}
	var refused *azcore.ResponseError
	if errors.As(err, &refused) {
		e.Status, e.Code = refused.StatusCode, refused.ErrorCode
	}
	switch {
	case e.Code == "PopReceiptMismatch", e.Code == "MessageNotFound":
		e.kind = errTaken
	case e.Status == http.StatusRequestEntityTooLarge, e.Code == "MessageTooLarge":
		e.kind = patterns.ErrTooLarge
	case e.Status == http.StatusServiceUnavailable, e.Status == http.StatusTooManyRequests:
		e.kind = patterns.ErrThrottled
	case e.definite():
	case write:
		e.kind = patterns.ErrOutcomeUnknown
	}
	return e
}

// failAfter is fail for a write that must not be done twice, over so many tries.
func failAfter(tries int, op string, err error) error {
	err = fail(op, err, true)
	var e *Error
	if errors.As(err, &e) {
		e.unsure = tries != 1
	}
	return err
}

// definite reports whether the service said no, and to the only try.
func (e *Error) definite() bool {
	return !e.unsure && e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests
}

// refused reports whether err is the service's definite no.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.definite()
}

// hasCode reports whether err is the service's answer with that error code.
func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
