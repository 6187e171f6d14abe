package largeentity

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// orphanMark is the metadata of a blob that was found without an entity. The service's
// time of the blob's last change is then the time of that.
const orphanMark = "azp_orphan"

// isMarked looks for the mark in metadata, whose case may have been lost.
func isMarked(metadata map[string]*string) bool {
	for name := range metadata {
		if strings.EqualFold(name, orphanMark) {
			return true
		}
	}
	return false
}

// oldBlob is a blob that has not changed for the grace time. What is done to it is not
// done where it has changed meanwhile, or is gone.
type oldBlob struct {
	etag   *azcore.ETag
	size   int64
	marked bool
}

func (o oldBlob) mark(ctx context.Context, c *container.Client, name string) error {
	return o.set(ctx, c, name, map[string]*string{orphanMark: to.Ptr("1")})
}

func (o oldBlob) set(ctx context.Context, c *container.Client, name string, metadata map[string]*string) error {
	_, err := c.NewBlobClient(name).SetMetadata(ctx, metadata, &blob.SetMetadataOptions{AccessConditions: o.unchanged()})
	return skip(fail("mark blob", "", err))
}

func (o oldBlob) delete(ctx context.Context, c *container.Client, name string) error {
	_, err := c.NewBlobClient(name).Delete(ctx, &blob.DeleteOptions{
		DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude), AccessConditions: o.unchanged(),
	})
	return skip(fail("delete blob", "", err))
}

func (o oldBlob) unchanged() *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: o.etag}}
}

// skip is err without what another, or an earlier try, has caused.
func skip(err error) error {
	if bloberror.HasCode(err, bloberror.BlobNotFound, bloberror.ConditionNotMet) {
		return nil
	}
	return err
}
