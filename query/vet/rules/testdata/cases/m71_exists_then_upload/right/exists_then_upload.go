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

var ErrPublished = errors.New("this version is published already")

type Publisher struct{ c *container.Client }

// Publish uploads a release once; a published release never changes.
func (p *Publisher) Publish(ctx context.Context, version string, f *os.File) error {
	b := p.c.NewBlockBlobClient("app-" + version + ".tar.gz")
	_, err := b.UploadFile(ctx, f, &blockblob.UploadFileOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	if bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet) {
		return ErrPublished
	}
	if err != nil {
		return fmt.Errorf("publish %s: %w", version, err)
	}
	return nil
}
