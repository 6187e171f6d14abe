package logdata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

var (
	// ErrContainerNotFound means that the container does not exist or is being deleted.
	ErrContainerNotFound = errors.New("container not found")

	// ErrClosed means that the Writer was closed. The record was not accepted.
	ErrClosed = errors.New("log writer is closed")

	// ErrFull means that the buffer is full and a flush has not made room. The record was
	// not accepted.
	ErrFull = errors.New("log buffer is full")

	// ErrPending means that the Writer accepted the record but has not stored it yet. A
	// later flush will; writing it again would store it twice.
	ErrPending = errors.New("record is buffered and not stored yet")

	// ErrTruncated means that a blob is shorter than when it was listed, or that its
	// download broke off repeatedly.
	ErrTruncated = errors.New("log blob is truncated")

	// ErrBadOption means that an option, a range or the name of a service is invalid.
	ErrBadOption = errors.New("bad option")
)

// RecordError reports a record that cannot be stored. It was not accepted. If the record
// is larger than a block, the error matches [patterns.ErrTooLarge].
type RecordError struct {
	Field  string // of [Record], "" for the whole record
	Reason string
	kind   error
}

func (e *RecordError) Error() string {
	if e.Field == "" {
		return "record " + e.Reason
	}
	return "record: " + e.Field + " " + e.Reason
}

// Unwrap returns the sentinel, or nil.
func (e *RecordError) Unwrap() error { return e.kind }

// LineError reports a line that is not in the format.
type LineError struct {
	Blob   string // name of the blob, "" if the line was not read from a blob
	Offset int64  // of the line's first byte in the blob
	Field  string // the invalid field, "" for the whole line
	Reason string
}

func (e *LineError) Error() string {
	text := "log line"
	if e.Blob != "" {
		text = fmt.Sprintf("log line at %d of %s", e.Offset, e.Blob)
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": " + e.Reason
}

func badLine(field, reason string) error { return &LineError{Field: field, Reason: reason} }

// Error is a request that did not succeed. It matches the sentinel that says what
// that means: [ErrContainerNotFound], [ErrTruncated], [patterns.ErrThrottled], and
// [patterns.ErrOutcomeUnknown] for a write that no answer came to; and the SDK's
// *azcore.ResponseError by errors.As. The message has no address, which may hold a
// signature; %+v prints the SDK's text.
type Error struct {
	Op     string // "list", "read", "create", "append", "set metadata"
	Blob   string // "" for a list
	Status int    // HTTP status, 0 when no answer came
	Code   string // the service's error code
	kind   error
	err    error
}

func (e *Error) Error() string {
	text := e.Op
	if e.Blob != "" {
		text += " " + e.Blob
	}
	if e.kind != nil {
		text += ": " + e.kind.Error()
	}
	var address *url.Error
	switch {
	case e.Status != 0:
		text += fmt.Sprintf(": refused by the service (%d %s)", e.Status, e.Code)
	case errors.As(e.err, &address):
		text += ": " + address.Err.Error()
	case e.err != nil:
		text += ": " + e.err.Error()
	}
	return text
}

// Format prints the SDK's full text for %+v only.
func (e *Error) Format(f fmt.State, verb rune) {
	fmt.Fprint(f, e.Error())
	if verb == 'v' && f.Flag('+') && e.err != nil {
		fmt.Fprintf(f, "\n%v", e.err)
	}
}

// LogValue keeps from a log what only %+v tells.
func (e *Error) LogValue() slog.Value { return azerr.LogValue(e) }

// Unwrap gives the sentinel and the SDK's error.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.kind, e.err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// failed makes the Error of a request; changes tells that it writes.
func failed(op, blob string, err error, changes bool) *Error {
	e := &Error{Op: op, Blob: blob, err: err}
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		e.Status, e.Code = answer.StatusCode, answer.ErrorCode
	}
	switch {
	case bloberror.HasCode(err, bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted):
		e.kind = ErrContainerNotFound
	case e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests:
		e.kind = patterns.ErrThrottled
	case changes && (e.Status == 0 || e.Status >= 500):
		e.kind = patterns.ErrOutcomeUnknown
	}
	return e
}

// causeOr returns the cause if ctx has ended, and err otherwise.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
