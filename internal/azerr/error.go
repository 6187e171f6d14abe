// Package azerr has the error type of failed requests to Azure Storage, the sentinels
// that it matches, and the one mapping from service error codes to sentinels.
package azerr

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Error is a request that did not succeed. It matches Kind with [errors.Is], and the
// SDK's *azcore.ResponseError with [errors.As].
//
// The message contains neither keys nor values, because messages end up in logs. The
// verb %+v also prints the SDK's own text, which contains both.
type Error struct {
	Op     string // "insert", "query", …
	Status int    // HTTP status, 0 if no reply came
	Code   string // error code of the service, "" if no reply came

	// Unsure reports that the request may have been carried out all the same: no
	// definite reply came, or an earlier try of the same call got none.
	Unsure bool

	// Unanswered reports that a try of an Unsure request may have got no reply at all.
	// What it asks for may still happen, later than anything that is read now.
	Unanswered bool

	Kind error // the sentinel that status and code mean, or nil
	Err  error // what the SDK returned, or nil
}

// New returns the Error of the operation op for err, which the SDK returned. If err is
// a reply of the service, Status, Code and Kind are those of the reply.
func New(op string, err error) *Error {
	e := &Error{Op: op, Err: err}
	var reply *azcore.ResponseError
	if errors.As(err, &reply) {
		e.Status, e.Code = reply.StatusCode, reply.ErrorCode
		e.Kind = Classify(reply.StatusCode, reply.ErrorCode)
	}
	return e
}

func (e *Error) Error() string {
	switch {
	case e.Status != 0 && e.Kind != nil:
		return fmt.Sprintf("%s: %v (%d %s)", e.Op, e.Kind, e.Status, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("%s: refused by the service (%d %s)", e.Op, e.Status, e.Code)
	case e.Kind != nil:
		return fmt.Sprintf("%s: %v: %s", e.Op, e.Kind, Describe(e.Err))
	}
	return e.Op + ": " + Describe(e.Err)
}

// Format prints the SDK's full text, keys included, for %+v only.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') && e.Err != nil {
		fmt.Fprintf(f, "%s\n%v", e.Error(), e.Err)
		return
	}
	io.WriteString(f, e.Error())
}

// LogValue keeps the text of %+v out of logs.
func (e *Error) LogValue() slog.Value { return LogValue(e) }

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

// WithKind returns a copy of e that matches kind instead.
func (e *Error) WithKind(kind error) *Error {
	c := *e
	c.Kind = kind
	return &c
}
