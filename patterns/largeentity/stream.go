package largeentity

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// Stream is the type of a field for values larger than memory. It is always stored in a
// blob. To write a value, set the field to the result of [StreamOf]; to read the value
// of an entity that was read or written, call [Stream.Open]. The zero Stream has no
// value. A Stream may be opened concurrently. Its source is read by one write only: other
// writes, concurrent or later, return [ErrBadStream].
type Stream struct {
	source *source       // to be written; nil for none
	stored *storedStream // to be read; nil for none
}

var streamType = reflect.TypeFor[Stream]()

// source is the content of a Stream to be written. Copies of the Stream share it.
type source struct {
	mu          sync.Mutex
	reader      io.Reader
	used        bool
	owner       any      // the Table that uploaded it
	key         keys.Key // of the entity for which it was uploaded
	ref         BlobRef  // zero if the upload failed
	uploadStart time.Time
}

type storedStream struct {
	blobs     *container.Client
	container string
	property  string
	ref       BlobRef
}

// StreamOf returns a Stream with the content of r. Writing the entity reads r once, to
// its end. If the write fails after the upload, for example with [patterns.ErrConflict],
// the same Stream can be written again to the same entity, within half of
// [Options.Grace]. Therefore call StreamOf outside the function that is passed to
// [Table.Update]. Two entities need two Streams, because they never share a blob. If r is
// nil, StreamOf returns the zero Stream.
func StreamOf(r io.Reader) Stream {
	if r == nil {
		return Stream{}
	}
	return Stream{source: &source{reader: r}}
}

// IsZero reports whether s has no value.
func (s Stream) IsZero() bool { return s.source == nil && s.stored == nil }

// Length returns the number of bytes of a stored Stream. ok is false if s is not stored, or
// if another program has stored it, see [Options.Addresses].
func (s Stream) Length() (n int64, ok bool) {
	if s.stored == nil || !s.stored.ref.checked() {
		return 0, false
	}
	return s.stored.ref.Length, true
}

// Open returns a reader of the value of an entity that was read or written. The caller
// must close it. One request, and one for each time that the connection breaks. If s is
// not stored, the error is [ErrBadStream].
//
// If the blob is not what was written, the reader returns [ErrCorrupt] instead of
// io.EOF: do not rely on the content before io.EOF.
//
// The blob exists for at least [Options.Grace] after its entity was changed or deleted.
// After that, Open may fail with [ErrBlobNotFound]. ctx applies to the whole read.
func (s Stream) Open(ctx context.Context) (io.ReadCloser, error) {
	if s.stored == nil {
		return nil, fmt.Errorf("open stream: %w", ErrBadStream)
	}
	r, err := openBlob(ctx, s.stored.blobs, s.stored.container, s.stored.property, s.stored.ref)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func badStream(f *field) error {
	return ofProperty(f.property, fmt.Errorf("write stream: %w", ErrBadStream))
}

var errOtherPackage = azerr.Sentinel("a Stream can only be written by package largeentity")

// MarshalJSON returns an error, because the content of a Stream is not part of its value.
func (s Stream) MarshalJSON() ([]byte, error) { return nil, errOtherPackage }

// UnmarshalJSON returns an error, as MarshalJSON does.
func (s *Stream) UnmarshalJSON([]byte) error { return errOtherPackage }
