package largeentity

import (
	"context"
	"errors"
	"io"
	"reflect"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/keys"
)

// Stream is a field for values larger than memory. To write one, assign what
// [NewStream] gives; of an entity that was read or written, [Stream.Open] reads it. It
// always stands in a blob. The zero Stream is no value.
type Stream struct {
	source *source       // to be written
	stored *storedStream // to be read
}

var streamType = reflect.TypeFor[Stream]()

// source is a Stream to be written. Copies of the Stream share it.
type source struct {
	mu     sync.Mutex
	reader io.Reader
	used   bool
	owner  any      // the Table that has uploaded it
	key    keys.Key // for the entity there
	ref    Blob
	since  time.Time // when the upload began
}

type storedStream struct {
	blobs     *container.Client
	container string
	property  string
	ref       Blob
}

// NewStream is a Stream to be written from r, which is read once, to its end, while
// the entity is written. When that fails after the upload, as by
// [patterns.ErrConflict], the same Stream can be written to the same entity again,
// within half of [Options.Grace]; so make it outside the function that [Table.Update]
// calls. Another entity takes a new Stream: no two refer to one blob.
func NewStream(r io.Reader) Stream {
	if r == nil {
		return Stream{}
	}
	return Stream{source: &source{reader: r}}
}

// IsZero reports whether there is no value.
func (s Stream) IsZero() bool { return s.source == nil && s.stored == nil }

// Length is how many bytes a stored Stream has; false for one not stored yet.
func (s Stream) Length() (n int64, ok bool) {
	if s.stored == nil {
		return 0, false
	}
	return s.stored.ref.Length, true
}

// Open reads the value of an entity that was read or written, one request, and one
// more each time that the connection breaks. The reader gives [ErrCorrupt] in place
// of io.EOF where the blob is not what was written: content is to be trusted only
// after io.EOF. Close it.
//
// The blob stays for [Options.Grace] at least after its entity was changed or deleted;
// after that Open may fail with [ErrBlobGone]. ctx is for the whole reading.
func (s Stream) Open(ctx context.Context) (io.ReadCloser, error) {
	if s.stored == nil {
		return nil, &Error{Op: "open stream", kind: ErrStream}
	}
	return openBlob(ctx, s.stored.blobs, s.stored.container, s.stored.property, s.stored.ref)
}

var errPlainTable = errors.New("a Stream is written by package largeentity only")

// MarshalJSON fails: a Stream has no content of its own to be written anywhere else.
func (s Stream) MarshalJSON() ([]byte, error) { return nil, errPlainTable }

// UnmarshalJSON fails, as MarshalJSON does.
func (s *Stream) UnmarshalJSON([]byte) error { return errPlainTable }
