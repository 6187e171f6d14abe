package share

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
)

const lifetime = 30 * time.Minute

type Links struct {
	files *container.Client
}

func New(files *container.Client) *Links { return &Links{files: files} }

func (l *Links) exists(ctx context.Context, name string) error {
	_, err := l.files.NewBlobClient(name).GetProperties(ctx, nil)
	return err
}

// Download returns a link by which a customer can fetch a file.
func (l *Links) Download(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", errors.New("no file name")
	}
	if err := l.exists(ctx, name); err != nil {
		return "", err
	}
	rights := sas.BlobPermissions{Read: true}
	return l.files.NewBlobClient(name).GetSASURL(rights, time.Now().Add(lifetime), (*blob.GetSASURLOptions)(nil))
}
