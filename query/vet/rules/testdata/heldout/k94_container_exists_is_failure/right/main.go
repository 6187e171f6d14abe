package archive

import (
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/google/uuid"
)

const containerName = "archive"

type Archive struct {
	client *azblob.Client
}

// Open connects to the archive and prepares its container.
func Open(ctx context.Context, url string, cred azcore.TokenCredential) (*Archive, error) {
	client, err := azblob.NewClient(url, cred, nil)
	if err != nil {
		return nil, fmt.Errorf("blob client: %w", err)
	}
	if _, err := client.CreateContainer(ctx, containerName, nil); err != nil && !bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil, fmt.Errorf("creating container: %w", err)
	}
	return &Archive{client: client}, nil
}

// Put stores a document under a new id.
func (a *Archive) Put(ctx context.Context, r io.Reader) (uuid.UUID, error) {
	id := uuid.New()
	if _, err := a.client.UploadStream(ctx, containerName, id.String(), r, nil); err != nil {
		return uuid.Nil, fmt.Errorf("archiving: %w", err)
	}
	return id, nil
}
