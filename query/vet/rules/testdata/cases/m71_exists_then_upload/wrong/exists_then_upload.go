package releases

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

var ErrPublished = errors.New("this version is published already")

type Publisher struct{ c *container.Client }

// Publish uploads a release once; a published release never changes.
func (p *Publisher) Publish(ctx context.Context, version string, f *os.File) error {
	b := p.c.NewBlockBlobClient("app-" + version + ".tar.gz")
	_, err := b.GetProperties(ctx, nil)
	if err == nil {
		return ErrPublished
	}
	if !bloberror.HasCode(err, bloberror.BlobNotFound) {
		return err
	}
	_, err = b.UploadFile(ctx, f, nil) // MISTAKE: between test and upload another build can publish, and is overwritten
	if err != nil {
		return fmt.Errorf("publish %s: %w", version, err)
	}
	return nil
}
