package cleanup

import (
	"context"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Janitor struct {
	blobs  *container.Client
	keep   time.Duration
	now    func() time.Time
	logger *slog.Logger
}

// Sweep deletes the temporary blobs that are old enough.
func (j *Janitor) Sweep(ctx context.Context) (deleted int, err error) {
	limit := j.now().Add(-j.keep)
	pager := j.blobs.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: to.Ptr("tmp/")})
	page, err := pager.NextPage(ctx) // MISTAKE: one page has up to 5000 blobs, the others are never looked at
	if err != nil {
		return 0, err
	}
	for _, b := range page.Segment.BlobItems {
		if b.Properties.LastModified.After(limit) {
			continue
		}
		_, err := j.blobs.NewBlobClient(*b.Name).Delete(ctx, nil)
		if err != nil && !bloberror.HasCode(err, bloberror.BlobNotFound) {
			return deleted, err
		}
		deleted++
	}
	j.logger.Info("sweep", "deleted", deleted)
	return deleted, nil
}
