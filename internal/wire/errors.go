package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/errtext"
)

// The sentinels that patterns re-exports. They live here because the code that
// reads service replies has to produce them, and this package may not import
// patterns.
var (
	ErrNotFound       = errors.New("not found")
	ErrTableNotFound  = errors.New("table not found")
	ErrExists         = errors.New("already exists")
	ErrConflict       = errors.New("changed since it was read")
	ErrThrottled      = errors.New("throttled by the service")
	ErrOutcomeUnknown = errors.New("outcome unknown")
	ErrTooLarge       = errors.New("over a size limit of the service")
	ErrUnordered      = errors.New("results of this service have no order")
	ErrBadReply       = errors.New("reply of the service cannot be read")
)

const serverBusy = "ServerBusy"

// meaning decides what a service's status and code mean to a caller. It is the
// only place that does. Codes without a meaning of their own give nil: the
// caller sees status and code in the [Error].
//
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
func meaning(status int, code string) error {
	switch code {
	case "ResourceNotFound", "EntityNotFound":
		return ErrNotFound
	case "TableNotFound", "TableBeingDeleted":
		return ErrTableNotFound
	case "EntityAlreadyExists", "TableAlreadyExists":
		return ErrExists
	case "UpdateConditionNotSatisfied", "ConditionNotMet":
		return ErrConflict
	case serverBusy, "TooManyRequests":
		return ErrThrottled
	case "EntityTooLarge", "PropertyValueTooLarge", "KeyValueTooLarge", "TooManyProperties",
		"PropertyLimitExceeded", "RequestBodyTooLarge", "ContentLengthExceeded":
		return ErrTooLarge
	}
	switch status {
	case http.StatusPreconditionFailed:
		return ErrConflict
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return ErrThrottled
	case http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case http.StatusNotFound:
		if code == "" {
			return ErrNotFound
		}
	}
	return nil
}

// Error is a request that did not succeed. It matches the sentinel that its
// status and code mean with [errors.Is], and the SDK's *azcore.ResponseError
// with [errors.As].
//
// The message holds neither keys nor values, because messages end up in logs;
// the SDK's own text, which holds both, is printed by the verb %+v.
type Error struct {
	Op     string // "insert", "query", …
	Status int    // HTTP status, 0 when no reply came
	Code   string // error code of the service, "" when no reply came

	// Unsure says that the request may have been carried out all the same: no
	// definite answer came, or an earlier try of the same call had none.
	Unsure bool

	// Unanswered says of an Unsure one that a try may have had no answer at all: what
	// it asks for may still happen, later than anything that is read now.
	Unanswered bool

	kind error // a sentinel, or nil
	err  error // what the SDK returned
}

func (e *Error) Error() string {
	switch {
	case e.Status != 0 && e.kind != nil:
		return fmt.Sprintf("%s: %v (%d %s)", e.Op, e.kind, e.Status, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("%s: refused by the service (%d %s)", e.Op, e.Status, e.Code)
	case e.kind != nil:
		return fmt.Sprintf("%s: %v: %s", e.Op, e.kind, quiet(e.err))
	}
	return e.Op + ": " + quiet(e.err)
}

// Format prints the SDK's full text, keys included, for %+v only.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') && e.err != nil {
		fmt.Fprintf(f, "%s\n%v", e.Error(), e.err)
		return
	}
	io.WriteString(f, e.Error())
}

// LogValue keeps from a log what only %+v tells.
func (e *Error) LogValue() slog.Value { return errtext.Value(e) }

// Unwrap gives the sentinel and the SDK's error.
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, 2)
	if e.kind != nil {
		errs = append(errs, e.kind)
	}
	if e.err != nil {
		errs = append(errs, e.err)
	}
	return errs
}

// WithKind gives the same error with kind as its meaning.
func (e *Error) WithKind(kind error) *Error {
	c := *e
	c.kind = kind
	return &c
}

// quiet is the text of err without the request's address, in which the keys stand.
func quiet(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err.Error()
	}
	var re *azcore.ResponseError
	if errors.As(err, &re) {
		return fmt.Sprintf("%d %s", re.StatusCode, re.ErrorCode)
	}
	if err == nil {
		return "failed"
	}
	return err.Error()
}

// fail makes the Error of a call from what the SDK returned.
func (c *call) fail(op string, err error) *Error {
	e := &Error{Op: op, err: err}
	var re *azcore.ResponseError
	if errors.As(err, &re) {
		e.Status, e.Code = re.StatusCode, re.ErrorCode
		e.kind = meaning(re.StatusCode, re.ErrorCode)
	}
	var m *MalformedError
	if e.kind == nil && (errors.As(err, &m) || c.unread(err)) {
		e.kind = ErrBadReply
	}
	e.Unsure = c.write && !c.unsent(err) && (c.unsure() || !definite(e.Status, e.Code, err))
	e.Unanswered = e.Unsure && c.unanswered()
	return e
}

// unread reports whether err is aztables' failure to read a reply of success.
func (c *call) unread(err error) bool {
	return !c.received && c.resp != nil && c.resp.StatusCode < http.StatusBadRequest &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// definite reports whether a try's answer proves that the service decided about
// the request: carried it out, or refused it. ServerBusy is a refusal. Any other
// 5xx leaves the outcome open; so does every transport error but a failed dial.
func definite(status int, code string, err error) bool {
	if status != 0 {
		return status < 500 && status != http.StatusRequestTimeout ||
			status == http.StatusNotImplemented || code == serverBusy
	}
	if err == nil {
		return true
	}
	var bad *unsent
	var op *net.OpError
	return errors.As(err, &bad) || errors.As(err, &op) && op.Op == "dial"
}

// unsent marks an error that was found before anything went out. It keeps azcore
// from trying again.
type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }
func (*unsent) NonRetriable()   {}

// final marks an error after which azcore must not try again.
type final struct{ error }

func (f *final) Unwrap() error { return f.error }
func (*final) NonRetriable()   {}

// alive gives the context's error as an Error, before anything is sent.
func alive(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return &Error{Op: op, err: err}
	}
	return nil
}
