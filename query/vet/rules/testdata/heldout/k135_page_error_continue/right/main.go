package gc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"
)

type Collector struct {
	blocks *container.Client
	log    *slog.Logger
}

// Clear removes all blobs of a block.
func (c *Collector) Clear(ctx context.Context, tenant, block uuid.UUID) error {
	prefix := fmt.Sprintf("%s/%s/", tenant, block)
	pager := c.blocks.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	var failed error
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			c.log.Warn("listing blobs", "prefix", prefix, "error", err)
			return errors.Join(failed, err)
		}
		for _, b := range page.Segment.BlobItems {
			_, err := c.blocks.NewBlobClient(*b.Name).Delete(ctx, nil)
			if err != nil && !bloberror.HasCode(err, bloberror.BlobNotFound) {
				failed = errors.Join(failed, fmt.Errorf("deleting %s: %w", *b.Name, err))
			}
		}
	}
	return failed
}
