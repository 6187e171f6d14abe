package logdata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// blob is an append blob that this Writer created. No other Writer appends to it,
// because the service lets only one client create a blob, and a Writer uses only blobs
// that it created.
type blob struct {
	client  *appendblob.Client
	name    string
	hour    time.Time
	size    int64 // bytes known to be stored
	blocks  int
	summary *summary
	stale   bool      // the summary is newer than the metadata
	updated time.Time // when the metadata was last set
}

const (
	// maxOpen is for how many hours a blob is kept open, for late records.
	maxOpen = 3
	// maxBlobTries is how many blobs are tried for one block, if each was deleted,
	// sealed or written to by another client.
	maxBlobTries = 8
	// metadataInterval is the least time between two updates of a blob's metadata.
	metadataInterval = time.Minute
)

var (
	errUnusable = azerr.Sentinel("blob cannot be appended to")
	errNotSent  = azerr.Sentinel("the SDK did not send the request")
	// errEarlierTry is the reason that a refused append may be stored.
	errEarlierTry = &sdkerr.UnknownOutcome{Cause: azerr.Sentinel("an earlier try may have been carried out")}
)

// lasting are the refusals after which no try at the same position can be carried out. A
// lease, in contrast, ends.
var lasting = []bloberror.Code{
	bloberror.AppendPositionConditionNotMet, bloberror.BlockCountExceedsLimit, bloberror.InvalidBlobType,
	bloberror.BlobImmutableDueToPolicy, "BlobIsSealed",
}

// store appends the block to a blob of its hour. Until the block is known to be stored,
// every try uses the same bytes, blob and position, so that the service accepts the
// block only once.
func (w *Writer) store(ctx context.Context, b *block) error {
	for range maxBlobTries {
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
	return fmt.Errorf("append: %d blobs in a row were deleted or changed: %w", maxBlobTries, patterns.ErrConflict)
}

// blobFor returns the open blob of the block's hour, or creates one.
func (w *Writer) blobFor(ctx context.Context, b *block) (*blob, error) {
	for i, o := range w.blobs {
		if !o.hour.Equal(b.hour) {
			continue
		}
		w.blobs = slices.Delete(w.blobs, i, i+1)
		if o.blocks >= w.options.blocks || o.size > 0 && o.size+int64(len(b.data)) > w.options.BlobBytes {
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

// create creates a blob whose metadata already describes its first block. If the name
// is taken, possibly by a try of this call whose reply was lost, it continues with the
// next free number. The empty blob that may remain is harmless.
func (w *Writer) create(ctx context.Context, b *block) (*blob, error) {
	prefix := hourPrefix(w.service, b.hour)
	if len(w.next) > 1000 { // the map only saves requests
		clear(w.next)
	}
	s := newSummary(b.hour)
	s.add(b.span, b.kinds)
	for range maxBlobTries {
		name := blobName(w.service, b.hour, w.options.Name, w.next[prefix])
		o := &blob{client: w.container.NewAppendBlobClient(name), name: name, hour: b.hour, summary: s, updated: time.Now()}
		_, err := o.client.Create(ctx, &appendblob.CreateOptions{
			AccessConditions: &azblob.AccessConditions{
				ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
			},
			HTTPHeaders: &azblob.HTTPHeaders{BlobContentType: to.Ptr("text/plain; charset=utf-8")},
			Metadata:    s.metadata(w.options.Format.Name()),
		})
		if err == nil {
			w.next[prefix]++
			return o, nil
		}
		if !bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet) {
			return nil, blobError(name, sdkerr.NewWrite("create", err))
		}
		if w.next[prefix], err = w.nextFreeNumber(ctx, prefix+w.options.Name+"-"); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("create: %d names in a row were taken: %w", maxBlobTries, patterns.ErrConflict)
}

// nextFreeNumber returns the number after the highest one in use.
func (w *Writer) nextFreeNumber(ctx context.Context, prefix string) (int, error) {
	next := 0
	for page, err := range listPages(ctx, w.container, prefix, false) {
		if err != nil {
			return 0, err
		}
		for _, item := range page {
			if item.Name == nil {
				continue
			}
			if n, ok := numberOf(*item.Name, prefix); ok {
				next = max(next, n+1)
			}
		}
	}
	return next, nil
}

// append appends the block at the known end of the blob. If the service refuses it,
// append checks whether an earlier try, whose reply was lost, has already stored it. While
// such a try may still be carried out, the blob remains that of the block.
func (w *Writer) append(ctx context.Context, o *blob, b *block) error {
	var tries calls.Tries
	reply, err := o.client.AppendBlock(tries.Context(ctx), streaming.NopCloser(bytes.NewReader(b.data)), &appendblob.AppendBlockOptions{
		AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: to.Ptr(o.size)},
	})
	if err == nil && reply.BlobAppendOffset == nil {
		// The SDK returns an empty reply and no error if it cannot measure the body.
		err = errNotSent
	}
	if err != nil && tries.EarlierOpen() {
		b.open = errEarlierTry
	}
	var refused *azcore.ResponseError
	switch {
	case err == nil:
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		b.open = nil
		return errUnusable
	case errors.As(err, &refused) && (refused.StatusCode == http.StatusConflict || refused.StatusCode == http.StatusPreconditionFailed):
		then := w.checkAppended(ctx, o, b)
		switch unusable := errors.Is(then, errUnusable); {
		case then == nil:
		case unusable && (b.open == nil || bloberror.HasCode(err, lasting...)):
			b.open = nil
			return errUnusable
		case unusable:
			return sdkerr.StillUnknown(b.open, blobError(o.name, sdkerr.NewWrite("append", err)))
		default:
			b.open = &sdkerr.UnknownOutcome{Cause: blobError(o.name, sdkerr.NewWrite("append", err)), Then: then}
			return b.open
		}
	default:
		err = sdkerr.StillUnknown(b.open, blobError(o.name, sdkerr.NewWrite("append", err)))
		if errors.Is(err, patterns.ErrOutcomeUnknown) {
			b.open = err
		}
		return err
	}
	if o.size > 0 { // create has already described the first block
		o.summary.add(b.span, b.kinds)
		o.stale = true
	}
	o.size += int64(len(b.data))
	o.blocks++
	return nil
}

// checkAppended returns nil if the blob contains the block at the expected position,
// and errUnusable if it does not.
func (w *Writer) checkAppended(ctx context.Context, o *blob, b *block) error {
	r := newRangeReader(ctx, w.container, o.name, byteRange{o.size, o.size + int64(len(b.data))})
	defer r.Close()
	stored, err := io.ReadAll(r)
	switch {
	case errors.Is(err, errGone), errors.Is(err, ErrTruncated):
		return errUnusable
	case err != nil:
		return err
	case !bytes.Equal(stored, b.data):
		return errUnusable
	}
	return nil
}

// updateMetadata sets the metadata of open blobs: of all blobs with outdated metadata,
// or only of those that were last updated metadataInterval ago.
func (w *Writer) updateMetadata(ctx context.Context, all bool) {
	for _, o := range w.blobs {
		if all || time.Since(o.updated) >= metadataInterval {
			w.setMetadata(ctx, o)
		}
	}
}

// setMetadata updates the metadata of the blob if it is outdated. An error is ignored:
// readers read every part of the blob that the metadata does not cover.
func (w *Writer) setMetadata(ctx context.Context, o *blob) {
	if !o.stale {
		return
	}
	o.updated = time.Now() // also on failure, to limit the number of tries
	if _, err := o.client.SetMetadata(ctx, o.summary.metadata(w.options.Format.Name()), nil); err == nil {
		o.stale = false
	}
}
