package logdata

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/azpatterns/azpatterns/patterns"
)

// blob is an append blob that this Writer has created. Nobody else appends to it:
// the service lets only one create it, and a Writer uses only what it created.
type blob struct {
	client  *appendblob.Client
	name    string
	hour    time.Time
	size    int64 // of what is known to be stored
	blocks  int
	summary *summary
	stale   bool      // the summary says more than the metadata
	noted   time.Time // when the metadata was set
}

const (
	// maxOpen is of how many hours blobs are kept open, for records that come late.
	maxOpen = 3
	// maxMoves is how often a block is tried on another blob, because the one before
	// was deleted, sealed or written to by others.
	maxMoves = 8
	// noteEvery is how old the metadata of a blob may get.
	noteEvery = time.Minute
)

var (
	errUnusable = errors.New("blob cannot be appended to")
	errUnsent   = errors.New("the SDK did not send the request")
)

// store appends the block to a blob of its hour. Until that is known to have
// happened the block, the blob and the position stay the same from try to try, so
// that the service takes it once.
func (w *Writer) store(ctx context.Context, b *block) error {
	for range maxMoves {
		o, err := w.blobFor(ctx, b)
		if err != nil {
			return err
		}
		err = w.append(ctx, o, b)
		if !errors.Is(err, errUnusable) {
			return err
		}
		w.blobs = slices.DeleteFunc(w.blobs, func(other *blob) bool { return other == o })
	}
	return &Error{Op: "append", kind: patterns.ErrConflict}
}

// blobFor gives the open blob of the block's hour, or a new one.
func (w *Writer) blobFor(ctx context.Context, b *block) (*blob, error) {
	for i, o := range w.blobs {
		if !o.hour.Equal(b.hour) {
			continue
		}
		w.blobs = slices.Delete(w.blobs, i, i+1)
		if o.blocks >= w.o.blocks || o.size > 0 && o.size+int64(len(b.data)) > w.o.BlobBytes {
			w.setMetadata(ctx, o)
			break
		}
		w.blobs = append(w.blobs, o)
		return o, nil
	}
	o, err := w.create(ctx, b)
	if err != nil {
		return nil, err
	}
	if len(w.blobs) == maxOpen {
		w.setMetadata(ctx, w.blobs[0])
		w.blobs = slices.Delete(w.blobs, 0, 1)
	}
	w.blobs = append(w.blobs, o)
	return o, nil
}

// create makes a new blob, whose metadata tells of its first block already. Where
// the name is taken, be it by a try of this call whose reply was lost, it goes on to
// the next free number; an empty blob that stays behind is harmless.
func (w *Writer) create(ctx context.Context, b *block) (*blob, error) {
	prefix := hourPrefix(w.service, b.hour)
	if len(w.next) > 1000 { // only saves requests
		clear(w.next)
	}
	s := newSummary(b.hour)
	s.add(b.span, b.kinds)
	for range maxMoves {
		name := blobName(w.service, b.hour, w.o.Name, w.next[prefix])
		o := &blob{client: w.container.NewAppendBlobClient(name), name: name, hour: b.hour, summary: s, noted: time.Now()}
		_, err := o.client.Create(ctx, &appendblob.CreateOptions{
			AccessConditions: onlyNew(),
			HTTPHeaders:      plainText(),
			Metadata:         s.metadata(w.o.Format.Name()),
		})
		if err == nil {
			w.next[prefix]++
			return o, nil
		}
		if !bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet) {
			return nil, failed("create", name, err, true)
		}
		if w.next[prefix], err = w.free(ctx, prefix+w.o.Name+"-"); err != nil {
			return nil, err
		}
	}
	return nil, &Error{Op: "create", kind: patterns.ErrConflict}
}

// free is the number after the highest that is taken.
func (w *Writer) free(ctx context.Context, prefix string) (int, error) {
	next := 0
	for page, err := range pages(ctx, w.container, prefix, false) {
		if err != nil {
			return 0, err
		}
		for _, item := range page {
			if n, ok := numberOf(*item.Name, prefix); ok {
				next = max(next, n+1)
			}
		}
	}
	return next, nil
}

// append appends the block at the position where the blob is known to end. After a
// refusal it looks whether an earlier try, whose reply was lost, has done it.
func (w *Writer) append(ctx context.Context, o *blob, b *block) error {
	answer, err := o.client.AppendBlock(ctx, streaming.NopCloser(bytes.NewReader(b.data)), &appendblob.AppendBlockOptions{
		AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: to.Ptr(o.size)},
	})
	if err == nil && answer.BlobAppendOffset == nil {
		// The SDK gives an empty answer and no error when it cannot measure the body.
		err = errUnsent
	}
	var refused *azcore.ResponseError
	switch {
	case err == nil:
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		return errUnusable
	case errors.As(err, &refused) && (refused.StatusCode == http.StatusConflict || refused.StatusCode == http.StatusPreconditionFailed):
		if err := w.appended(ctx, o, b); err != nil {
			return err
		}
	default:
		return failed("append", o.name, err, true)
	}
	if o.size > 0 { // what create did not tell already
		o.summary.add(b.span, b.kinds)
		o.stale = true
	}
	o.size += int64(len(b.data))
	o.blocks++
	return nil
}

// appended is nil when the blob has the block where it was to be, and errUnusable
// when it has not.
func (w *Writer) appended(ctx context.Context, o *blob, b *block) error {
	r := newRangeReader(ctx, w.container, o.name, stretch{o.size, o.size + int64(len(b.data))})
	defer r.Close()
	there, err := io.ReadAll(r)
	switch {
	case errors.Is(err, errGone), errors.Is(err, ErrTruncated):
		return errUnusable
	case err != nil:
		return err
	case !bytes.Equal(there, b.data):
		return errUnusable
	}
	return nil
}

// note sets the metadata of the open blobs: of all that have changed, or of those
// where it is old.
func (w *Writer) note(ctx context.Context, all bool) {
	for _, o := range w.blobs {
		if all || time.Since(o.noted) >= noteEvery {
			w.setMetadata(ctx, o)
		}
	}
}

// setMetadata brings the blob's metadata up to date. They are a hint: where this
// fails, readers look into what the metadata do not cover.
func (w *Writer) setMetadata(ctx context.Context, o *blob) {
	if !o.stale {
		return
	}
	o.noted = time.Now() // also when it fails, to be tried not too often
	if _, err := o.client.SetMetadata(ctx, o.summary.metadata(w.o.Format.Name()), nil); err == nil {
		o.stale = false
	}
}
