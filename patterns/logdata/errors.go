package logdata

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

var (
	// ErrContainerNotFound means that the container does not exist or is being deleted.
	ErrContainerNotFound = azerr.ErrContainerNotFound

	// ErrClosed means that the Writer was closed. The record was not accepted.
	ErrClosed = azerr.Sentinel("log writer is closed")

	// ErrFull means that the buffer is full and a flush has not made room. The record was
	// not accepted.
	ErrFull = azerr.Sentinel("log buffer is full")

	// ErrPending means that the Writer accepted the record but has not stored it yet. A
	// later flush will; writing it again would store it twice.
	ErrPending = azerr.Sentinel("record is buffered and not stored yet")

	// ErrTruncated means that a blob is shorter than when it was listed, or that its
	// download broke off repeatedly.
	ErrTruncated = azerr.Sentinel("log blob is truncated")
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

// LineError reports a line that is not in the format. A read yields it and goes on.
type LineError struct {
	Blob   string // name of the blob, "" if the line was not read from a blob
	Line   int64  // its number in the blob, from 1; 0 if a part of the blob was read that begins later
	Offset int64  // of the line's first byte in the blob
	Field  string // the invalid field, "" for the whole line
	Reason string
}

func (e *LineError) Error() string {
	text := "log line"
	switch {
	case e.Line > 0:
		text = fmt.Sprintf("log line %d of %s", e.Line, azerr.Printable(e.Blob))
	case e.Blob != "":
		text = fmt.Sprintf("log line at offset %d of %s", e.Offset, azerr.Printable(e.Blob))
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": " + e.Reason
}

func badLine(field, reason string) error { return &LineError{Field: field, Reason: reason} }

// blobError adds the name of the blob to the error of a request. Names of blobs are not
// secret.
func blobError(blob string, err error) error {
	return fmt.Errorf("blob %s: %w", azerr.Printable(blob), err)
}

// truncatedError returns the error of a blob that is shorter than expected.
func truncatedError(blob string, err error) error {
	return blobError(blob, sdkerr.WithKind(sdkerr.New("read", err), ErrTruncated))
}

// causeOr returns the cause if ctx has ended, and err otherwise.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return azerr.Seal(cause)
	}
	return err
}
