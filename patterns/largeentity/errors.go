package largeentity

import (
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

// Errors in addition to those of package patterns. Match them with [errors.Is]. The error
// of a refused or failed request is also a *[patterns.Error].
var (
	// ErrCorrupt means that stored data is not what was written: a blob has another
	// length or SHA-256 than its reference, cannot be decompressed or decoded, or the
	// references in the row cannot be read.
	ErrCorrupt = azerr.Sentinel("blob or reference is corrupt")

	// ErrBlobNotFound means that the entity refers to a blob that does not exist. After
	// [Table.Load] or [Stream.Open] the usual reason is that the entity was changed, and
	// the blob deleted a grace period later: read the entity again.
	ErrBlobNotFound = azerr.Sentinel("blob does not exist")

	// ErrContainerNotFound means that the container does not exist.
	ErrContainerNotFound = azerr.ErrContainerNotFound

	// ErrWrongContainer means that the blob is stored in another container than that of
	// the [Table], or that the address in the row is not one of that container.
	ErrWrongContainer = azerr.Sentinel("blob is stored in another container")

	// ErrTooSlow means that more than half of [Options.Grace] passed between the upload
	// of a blob, or the outbox message of [Options.Outbox], and the write of the entity.
	// [Table.Sweep] might delete the blob, or a worker might already have handled the
	// message. It also means that a reply before the outbox message took that long, so that
	// the time of the message is not known. The entity was not written or deleted, unless the error also matches
	// [patterns.ErrOutcomeUnknown].
	ErrTooSlow = azerr.Sentinel("half of the grace period passed before the entity could be written")

	// ErrBadStream means that a [Stream] cannot be used: it was already read, is empty,
	// or belongs to another entity or table. To copy a stored Stream, make a new one from
	// what [Stream.Open] returns.
	ErrBadStream = azerr.Sentinel("stream was already used, is empty or belongs to another entity")
)

// blobError returns the error of a request to the Blob service that ended with err; nil
// if err is nil. A caller must not mistake the kinds that describe a blob for those that
// describe the row, so the result never matches patterns.ErrNotFound, ErrExists or
// ErrConflict.
func blobError(op string, err error) error {
	if err == nil {
		return nil
	}
	e := sdkerr.New(op, err)
	switch e.Kind {
	case azerr.ErrNotFound:
		e.Kind = ErrBlobNotFound
	case azerr.ErrExists, azerr.ErrConflict:
		e.Kind = nil
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
