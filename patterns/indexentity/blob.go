package indexentity

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// blobs is a [patterns.Target]: lists in blobs, each a JSON array of members.
type blobs struct {
	name      string
	container *container.Client
}

// ID is of patterns.Target.
func (b *blobs) ID() string { return "blob-" + b.name }

// tries is how often a list is read again because another writer was faster.
const tries = 64

// Reconcile is of patterns.Target: it puts the owner into the list, or takes it out,
// under the list's ETag.
func (b *blobs) Reconcile(ctx context.Context, c view.Claim) error {
	if c.Kind != view.Members {
		return fmt.Errorf("index in a blob: %w", patterns.ErrBadView)
	}
	edit := remove
	if c.Wanted {
		edit = insert
	}
	for try := 1; ; try++ {
		members, etag, err := b.read(ctx, c.Key)
		if err != nil {
			return err
		}
		members, changed := edit(members, list{}.text(c.Owner))
		if !changed {
			return nil
		}
		err = b.write(ctx, c.Key, members, etag)
		raced := bloberror.HasCode(err, bloberror.ConditionNotMet, bloberror.BlobAlreadyExists, bloberror.BlobNotFound)
		if err == nil || !raced {
			return quiet(err)
		}
		if try == tries {
			return fmt.Errorf("index in a blob: %w", patterns.ErrConflict)
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return err
		}
	}
}

// blob is where the list at key stands. The ending keeps a value from ending the name
// in a dot, which the service advises against.
func (b *blobs) blob(key keys.Key) *blockblob.Client {
	return b.container.NewBlockBlobClient(b.name + "/" + key.Row + ".json")
}

// read gives the members and the list's ETag, nil where there is no list.
func (b *blobs) read(ctx context.Context, key keys.Key) ([]string, *azcore.ETag, error) {
	resp, err := b.blob(key).DownloadStream(ctx, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, quiet(err)
	}
	body := resp.NewRetryReader(ctx, nil)
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, nil, quiet(err)
	}
	members, err := parseMembers(text)
	if err != nil {
		return nil, nil, fmt.Errorf("index in a blob: %w: the list is not a JSON array of strings", patterns.ErrBadReply)
	}
	return asSet(members), resp.ETag, nil
}

// write replaces the list that had etag; an empty one is deleted.
func (b *blobs) write(ctx context.Context, key keys.Key, members []string, etag *azcore.ETag) error {
	only := &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: etag}}
	if etag == nil {
		only.ModifiedAccessConditions.IfNoneMatch = to.Ptr(azcore.ETagAny)
	}
	if len(members) == 0 {
		_, err := b.blob(key).Delete(ctx, &blob.DeleteOptions{AccessConditions: only})
		return err
	}
	_, err := b.blob(key).Upload(ctx, streaming.NopCloser(bytes.NewReader(formatMembers(members))), &blockblob.UploadOptions{
		AccessConditions: only,
		HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
	})
	return err
}

// quiet keeps the blob's name, which holds the value, out of the message.
func quiet(err error) error {
	if err == nil {
		return nil
	}
	return &blobError{err}
}

type blobError struct{ err error }

func (e *blobError) Error() string { return "index in a blob: request failed" + codeOf(e.err) }
func (e *blobError) Unwrap() error { return e.err }
