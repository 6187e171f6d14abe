package eventual

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// maxBlobName is in characters.
//
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
const maxBlobName = 1024

// BlobName returns the name of the blob in which [MoveToBlob] stores the row at key, for
// example "Sales/000123.json". Both parts of the key are escaped by [keys.Escape]. A part
// that is empty or ends in a dot gets a "_", which escaped text does not contain, so that
// the service does not take the name for another path. The error matches
// [patterns.ErrBadKey] for an invalid key and [patterns.ErrTooLarge] for a name of more
// than 1,024 characters.
func BlobName(key keys.Key) (string, error) {
	if err := key.Validate(); err != nil {
		return "", fmt.Errorf("blob name: %w", err)
	}
	segment := func(s string) string {
		if s = keys.Escape(s); s == "" || strings.HasSuffix(s, ".") {
			s += "_"
		}
		return s
	}
	name := segment(key.Partition) + "/" + segment(key.Row) + ".json"
	if n := len([]rune(name)); n > maxBlobName {
		return "", fmt.Errorf("blob name: %w: %d characters", patterns.ErrTooLarge, n)
	}
	return name, nil
}

// blobArchive is a container with one blob for each row.
type blobArchive struct{ container *container.Client }

func (a blobArchive) insert(ctx context.Context, r storedRow) (string, error) {
	return a.put(ctx, r, ifAbsent())
}

func (a blobArchive) replace(ctx context.Context, r storedRow, etag string) (string, error) {
	return a.put(ctx, r, ifVersion(etag))
}

// ifVersion is the condition that the blob has that ETag.
func ifVersion(etag string) *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: to.Ptr(azcore.ETag(etag))}}
}

func (a blobArchive) put(ctx context.Context, r storedRow, condition *blob.AccessConditions) (string, error) {
	name, err := BlobName(r.key)
	if err != nil {
		return "", err
	}
	body, err := r.encode()
	if err != nil {
		return "", err
	}
	return uploadJSON(ctx, a.container, name, body, condition)
}

func (a blobArchive) get(ctx context.Context, key keys.Key) (storedRow, error) {
	name, err := BlobName(key)
	if err != nil {
		return storedRow{}, err
	}
	body, etag, err := download(ctx, a.container, name, math.MaxInt64)
	if err != nil {
		return storedRow{}, err
	}
	return decodeRow(key, etag, body)
}

func (a blobArchive) delete(ctx context.Context, key keys.Key, etag string) error {
	name, err := BlobName(key)
	if err != nil {
		return err
	}
	_, err = a.container.NewBlobClient(name).Delete(ctx, &blob.DeleteOptions{AccessConditions: ifVersion(etag)})
	return writeError("delete blob", err)
}
