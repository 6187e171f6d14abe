package largeentity

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

var (
	// ErrCorrupt: what was read is not what was written: the blob has another length
	// or SHA-256 than its entity says, cannot be decompressed or decoded, or the
	// entity's references cannot be read.
	ErrCorrupt = errors.New("blob is not what its entity says")

	// ErrBlobGone: the entity refers to a blob that does not exist. For a [Stream],
	// the entity was changed, and Sweep has deleted the blob: read the entity again.
	ErrBlobGone = errors.New("blob is gone")

	// ErrContainer: the container does not exist, or the blob stands in another one
	// than that of the [Table].
	ErrContainer = errors.New("no such container, or not the one the blob stands in")

	// ErrTooSlow: between the upload of a blob and the write of its entity more than
	// half of [Options.Grace] passed, so that [Table.Sweep] might delete the blob.
	// The entity was not written.
	ErrTooSlow = errors.New("half of the grace time passed before the entity could be written")

	// ErrGrace: a sweep was asked for with a shorter grace time than the writers have.
	ErrGrace = errors.New("grace time is shorter than that of the writers")

	// ErrStream: a [Stream] was read already, is empty, or is that of another entity
	// or table, written there or not. To copy one, make a new Stream of what Open gives.
	ErrStream = errors.New("stream cannot be used here")
)

// Error is a blob of one property that could not be written or read. It matches the
// sentinel that it means with [errors.Is], and the SDK's *azcore.ResponseError with
// [errors.As]. Messages hold neither names of blobs nor values; the verb %+v prints
// the SDK's full text.
type Error struct {
	Op       string // "put blob", "get blob", …
	Property string // "" where it is about no one property
	Status   int    // HTTP status, 0 when no reply came
	Code     string // error code of the service, "" when no reply came

	kind error
	err  error
}

func (e *Error) Error() string {
	where := e.Op
	if e.Property != "" {
		where += ": property " + e.Property
	}
	switch {
	case e.kind != nil:
		return fmt.Sprintf("%s: %v", where, e.kind)
	case e.Status != 0:
		return fmt.Sprintf("%s: refused by the service (%d %s)", where, e.Status, e.Code)
	}
	return where + ": no answer"
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
func (e *Error) LogValue() slog.Value { return azerr.LogValue(e) }

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

// fail says what an error of the SDK means.
func fail(op, property string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, Property: property, err: err}
	var refused *azcore.ResponseError
	if errors.As(err, &refused) {
		e.Status, e.Code = refused.StatusCode, refused.ErrorCode
	}
	switch {
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		e.kind = ErrBlobGone
	case bloberror.HasCode(err, bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted):
		e.kind = ErrContainer
	case e.Status == http.StatusServiceUnavailable, e.Status == http.StatusTooManyRequests:
		e.kind = patterns.ErrThrottled
	case e.Status == http.StatusRequestEntityTooLarge:
		e.kind = patterns.ErrTooLarge
	}
	return e
}

// corrupt is ErrCorrupt with what shows it.
func corrupt(property, why string) error {
	return &Error{Op: "get blob", Property: property, kind: fmt.Errorf("%w: %s", ErrCorrupt, why)}
}
