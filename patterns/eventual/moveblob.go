package eventual

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// maxBlobName is in characters.
//
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
const maxBlobName = 1024

// BlobName is the name under which [MoveToBlob] stores the row at key:
// "Sales/000123.json". Keys are escaped by [keys.Escape]; one that is empty or ends
// in a dot gets a "_", which no escaped text has, so that no name is mistaken for
// another path.
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

// blobShelf is a container with a blob for each record.
type blobShelf struct{ container *container.Client }

func (s blobShelf) create(ctx context.Context, r record) (string, error) {
	return s.put(ctx, r, absent())
}

func (s blobShelf) replace(ctx context.Context, r record, etag string) (string, error) {
	return s.put(ctx, r, version(etag))
}

func version(etag string) *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: to.Ptr(azcore.ETag(etag))}}
}

func (s blobShelf) put(ctx context.Context, r record, condition *blob.AccessConditions) (string, error) {
	name, err := BlobName(r.key)
	if err != nil {
		return "", err
	}
	body, err := r.body()
	if err != nil {
		return "", err
	}
	resp, err := s.container.NewBlockBlobClient(name).Upload(ctx, streaming.NopCloser(bytes.NewReader(body)), &blockblob.UploadOptions{
		HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
		AccessConditions: condition,
	})
	return string(deref(resp.ETag)), failBlob("put blob", err)
}

func (s blobShelf) read(ctx context.Context, key keys.Key) (record, error) {
	r := record{key: key}
	name, err := BlobName(key)
	if err != nil {
		return r, err
	}
	resp, err := s.container.NewBlobClient(name).DownloadStream(ctx, nil)
	if err != nil {
		return r, failBlob("get blob", err)
	}
	stream := resp.NewRetryReader(ctx, nil)
	defer stream.Close()
	body, err := io.ReadAll(stream)
	if err != nil {
		return r, failBlob("get blob", err)
	}
	r.properties, _, err = edm.ReadProperties(body)
	r.etag = string(deref(resp.ETag))
	return r, err
}

func (s blobShelf) remove(ctx context.Context, key keys.Key, etag string) error {
	name, err := BlobName(key)
	if err != nil {
		return err
	}
	_, err = s.container.NewBlobClient(name).Delete(ctx, &blob.DeleteOptions{AccessConditions: version(etag)})
	return failBlob("delete blob", err)
}

// failBlob is fail with the sentinels that a table would give.
func failBlob(op string, err error) error {
	err = fail(op, err, op != "get blob")
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	switch e.Code {
	case "BlobNotFound":
		e.kind = patterns.ErrNotFound
	case "BlobAlreadyExists":
		e.kind = patterns.ErrExists
	case "ConditionNotMet":
		e.kind = patterns.ErrConflict
	}
	return e
}
