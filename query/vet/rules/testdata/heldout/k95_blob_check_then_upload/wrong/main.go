package releases

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

var ErrPublished = errors.New("release is already published")

type Publisher struct {
	releases *container.Client
}

// Publish uploads a release; a published release never changes.
func (p *Publisher) Publish(ctx context.Context, version, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()

	target := p.releases.NewBlockBlobClient("release-" + version + ".zip")
	_, err = target.GetProperties(ctx, nil)
	if err == nil {
		return ErrPublished
	}
	if !bloberror.HasCode(err, bloberror.BlobNotFound) {
		return fmt.Errorf("looking for %s: %w", version, err)
	}
	_, err = target.UploadFile(ctx, file, nil) // MISTAKE: Whether the release exists is asked before the upload, so two publishers can overwrite each other's file.
	if err != nil {
		return fmt.Errorf("publishing %s: %w", version, err)
	}
	return nil
}
