package releases

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
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
	_, err = target.UploadFile(ctx, file, &blockblob.UploadFileOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	if bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet) {
		return ErrPublished
	}
	if err != nil {
		return fmt.Errorf("publishing %s: %w", version, err)
	}
	return nil
}
