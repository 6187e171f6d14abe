package largeentity

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/azpatterns/azpatterns/internal/errtext"
	"github.com/azpatterns/azpatterns/patterns"
)

// Errors that callers may want to distinguish, in addition to those of package patterns.
// Match them with [errors.Is].
var (
	// ErrCorrupt means that stored data is not what was written: a blob has another
	// length or SHA-256 than its reference, cannot be decompressed or decoded, or the
	// references in the row cannot be read.
	ErrCorrupt = errors.New("blob or reference is corrupt")

	// ErrBlobNotFound means that the entity refers to a blob that does not exist. After
	// [Table.Load] or [Stream.Open] the usual reason is that the entity was changed, and
	// the blob deleted a grace period later: read the entity again.
	ErrBlobNotFound = errors.New("blob does not exist")

	// ErrContainerNotFound means that the container does not exist.
	ErrContainerNotFound = errors.New("container does not exist")

	// ErrWrongContainer means that the blob is stored in another container than that of
	// the [Table].
	ErrWrongContainer = errors.New("blob is stored in another container")

	// ErrTooSlow means that more than half of [Options.Grace] passed between the upload
	// of a blob and the write of the entity, so that [Table.Sweep] might delete the blob.
	// The entity was not written, unless the error also matches
	// [patterns.ErrOutcomeUnknown].
	ErrTooSlow = errors.New("half of the grace period passed before the entity could be written")

	// ErrGraceTooShort means that [SweepOptions.Grace] is shorter than [Options.Grace].
	ErrGraceTooShort = errors.New("grace period is shorter than that of the writers")

	// ErrBadStream means that a [Stream] cannot be used: it was already read, is empty,
	// or belongs to another entity or table. To copy a stored Stream, make a new one from
	// what [Stream.Open] returns.
	ErrBadStream = errors.New("stream was already used, is empty or belongs to another entity")
)

// Error is a blob of one property that could not be written or read. It matches the
// sentinel that it means with [errors.Is], and the SDK's *azcore.ResponseError with
// [errors.As]. Messages hold neither names of blobs nor values; the verb %+v prints
// the SDK's full text.
type Error struct {
	Op     string // "put blob", "get blob", …
	Status int    // HTTP status, 0 when no reply came
	Code   string // error code of the service, "" when no reply came

	kind error
	err  error
}

func (e *Error) Error() string {
	switch {
	case e.kind != nil:
		return fmt.Sprintf("%s: %v", e.Op, e.kind)
	case e.Status != 0:
		return fmt.Sprintf("%s: refused by the service (%d %s)", e.Op, e.Status, e.Code)
	}
	return e.Op + ": no answer"
}

// Format prints the SDK's full text for %+v only.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') && e.err != nil {
		fmt.Fprintf(f, "%s\n%v", e.Error(), e.err)
		return
	}
	io.WriteString(f, e.Error())
}

// LogValue keeps from a log what only %+v tells.
func (e *Error) LogValue() slog.Value { return errtext.Value(e) }

// Unwrap gives the sentinel that it means and the SDK's error, where there are.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.kind, e.err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// blobError returns the error of a request to the Blob service that ended with err; nil
// if err is nil.
func blobError(op string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, err: err}
	var refused *azcore.ResponseError
	if errors.As(err, &refused) {
		e.Status, e.Code = refused.StatusCode, refused.ErrorCode
	}
	switch {
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		e.kind = ErrBlobNotFound
	case bloberror.HasCode(err, bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted):
		e.kind = ErrContainerNotFound
	case e.Status == http.StatusServiceUnavailable, e.Status == http.StatusTooManyRequests:
		e.kind = patterns.ErrThrottled
	case e.Status == http.StatusRequestEntityTooLarge:
		e.kind = patterns.ErrTooLarge
	}
	return e
}

// ofProperty adds the name of the property to err; nil if err is nil.
func ofProperty(property string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("property %s: %w", property, err)
}

// corrupt returns ErrCorrupt with the reason.
func corrupt(reason string) error { return fmt.Errorf("%w: %s", ErrCorrupt, reason) }
