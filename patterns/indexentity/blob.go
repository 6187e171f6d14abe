package indexentity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// blobTarget is a [view.Reconciler] that stores each list in a blob, as a JSON array of its
// members.
type blobTarget struct {
	name      string
	container *container.Client
}

var _ view.Reconciler = (*blobTarget)(nil)

// ID implements [patterns.Target].
func (b *blobTarget) ID() string { return "blob-" + b.name }

// Module implements [patterns.Target].
func (b *blobTarget) Module(azerr.Module) {}

// Create creates the container; it is not an error if the container exists. One request.
func (b *blobTarget) Create(ctx context.Context) error {
	_, err := b.container.Create(ctx, nil)
	if err == nil || bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil
	}
	return sdkerr.New("create container", err)
}

// maxTries limits the conflicts of one Reconcile.
const maxTries = 64

// Reconcile implements [view.Reconciler]: it adds the owner to the list or removes it, on
// condition that the blob is still as it was read. Two requests, one if nothing changes,
// and two more for each conflict.
func (b *blobTarget) Reconcile(ctx context.Context, c view.Claim) (wrote bool, err error) {
	if c.View.Shape.Kind != patterns.Members {
		return false, fmt.Errorf("index in a blob: %w", patterns.ErrBadView)
	}
	if c.Keep {
		return false, nil
	}
	edit := remove
	if c.Wanted {
		edit = insert
	}
	for try := 1; ; try++ {
		members, etag, err := b.read(ctx, c.Key)
		if err != nil {
			return wrote, err
		}
		members, changed := edit(members, list{}.text(c.Owner))
		if !changed {
			return wrote, nil
		}
		wrote = true
		err = b.write(ctx, c.Key, members, etag)
		if !isConflict(err) {
			return wrote, err
		}
		if try == maxTries {
			return wrote, &patterns.Error{Op: "update list blob", Kind: azerr.ErrConflict, Err: errTries}
		}
		if err := calls.Pause(ctx, try); err != nil {
			return wrote, err
		}
	}
}

// isConflict reports whether err means that the blob was created, changed or deleted
// since it was read.
func isConflict(err error) bool {
	return errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrNotFound)
}

// maxListBlob is the size of the largest list that is read or written, in bytes.
const maxListBlob = 16 << 20

// blob returns a client of the list at key. The suffix prevents a name that ends in a
// dot, which the service advises against.
func (b *blobTarget) blob(key keys.Key) *blockblob.Client {
	return b.container.NewBlockBlobClient(b.name + "/" + key.Row + ".json")
}

// read returns the members of the list at key and its ETag, which is nil if there is no
// list.
func (b *blobTarget) read(ctx context.Context, key keys.Key) ([]string, *azcore.ETag, error) {
	const op = "get list blob"
	calls.CountRequest(ctx)
	resp, err := b.blob(key).DownloadStream(ctx, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, sdkerr.New(op, err)
	}
	body := resp.NewRetryReader(ctx, nil)
	defer body.Close()
	if resp.ETag == nil || azerr.CheckVersion(string(*resp.ETag)) != nil { // the list could not be changed on a condition
		return nil, nil, &patterns.Error{Op: op, Kind: azerr.ErrBadReply, Err: errNoETag}
	}
	if resp.ContentLength != nil && *resp.ContentLength > maxListBlob {
		return nil, nil, &patterns.Error{Op: op, Kind: azerr.ErrTooLarge, Err: errListSize}
	}
	text, err := io.ReadAll(io.LimitReader(body, maxListBlob+1))
	if err != nil {
		return nil, nil, sdkerr.New(op, err)
	}
	if len(text) > maxListBlob {
		return nil, nil, &patterns.Error{Op: op, Kind: azerr.ErrTooLarge, Err: errListSize}
	}
	members, err := parseMembers(string(text))
	if err != nil {
		return nil, nil, &patterns.Error{Op: op, Kind: azerr.ErrBadReply, Err: errNotList}
	}
	return asSet(members), resp.ETag, nil
}

var (
	errTries    = azerr.Sentinel("in every try")
	errNotList  = azerr.Sentinel("the list is not a JSON array of strings")
	errNoETag   = azerr.Sentinel("no valid ETag")
	errListSize = azerr.Errorf("a list has more than %d MiB", maxListBlob>>20)
)

// write replaces the list if it still has the ETag, or is still missing if etag is nil.
// An empty list is deleted.
func (b *blobTarget) write(ctx context.Context, key keys.Key, members []string, etag *azcore.ETag) error {
	only := &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: etag}}
	if etag == nil {
		only.ModifiedAccessConditions.IfNoneMatch = to.Ptr(azcore.ETagAny)
	}
	var tries calls.Tries
	calls.CountRequest(ctx)
	op, err := "put list blob", error(nil)
	if len(members) == 0 {
		op = "delete list blob"
		_, err = b.blob(key).Delete(tries.Context(ctx), &blob.DeleteOptions{AccessConditions: only})
	} else {
		text := formatMembers(members)
		if len(text) > maxListBlob {
			return &patterns.Error{Op: op, Kind: azerr.ErrTooLarge, Err: errListSize}
		}
		_, err = b.blob(key).Upload(tries.Context(ctx), streaming.NopCloser(strings.NewReader(text)), &blockblob.UploadOptions{
			AccessConditions: only,
			HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
		})
	}
	if err == nil {
		if etag == nil && tries.EarlierOpen() { // a late attempt may create the list again
			calls.MarkUnanswered(ctx)
		}
		return nil
	}
	e := sdkerr.NewWrite(op, err)
	if e.Unsure || tries.EarlierOpen() {
		calls.MarkUnanswered(ctx)
	}
	return e
}
