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
	// ErrContainerNotFound: the container does not exist, or is being deleted.
	ErrContainerNotFound = errors.New("container not found")

	// ErrClosed: the Writer was closed. The record was not taken.
	ErrClosed = errors.New("log writer is closed")

	// ErrFull: the buffer has no room, and storing did not make any. The record was
	// not taken.
	ErrFull = errors.New("log buffer is full")

	// ErrPending: the Writer keeps the record but could not store it yet. It goes out
	// with a later flush; writing it again would store it twice.
	ErrPending = errors.New("record is kept and not stored yet")

	// ErrTruncated: a blob is shorter than it was when it was listed, or its content
	// broke off again and again.
	ErrTruncated = errors.New("log blob is truncated")

	// ErrBadOption: an option, or the name of a service, is out of range.
	ErrBadOption = errors.New("bad option")
)

// RecordError is a record that cannot be stored. It was not taken. One that is larger
// than a block matches [patterns.ErrTooLarge].
type RecordError struct {
	Field  string // of [Record]; "" is the whole
	Reason string
	kind   error
}

func (e *RecordError) Error() string {
	if e.Field == "" {
		return "record " + e.Reason
	}
	return "record: " + e.Field + " " + e.Reason
}

// Unwrap gives the sentinel, if there is one.
func (e *RecordError) Unwrap() error { return e.kind }

// LineError is a line of a blob that is not of the format.
type LineError struct {
	Blob   string // empty where a line was parsed by itself
	Offset int64  // of the line's first byte in the blob
	Field  string // the field that is wrong, "" where it is the whole line
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

// interrupted tells the end of the caller's own context.
func interrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
