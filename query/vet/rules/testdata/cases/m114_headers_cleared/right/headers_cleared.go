package cachehdr

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Assets struct{ c *container.Client }

// Cache sets how long browsers may keep an asset.
func (a *Assets) Cache(ctx context.Context, name string, d time.Duration) error {
	b := a.c.NewBlobClient(name)
	props, err := b.GetProperties(ctx, nil)
	if err != nil {
		return fmt.Errorf("asset %s: %w", name, err)
	}
	value := fmt.Sprintf("public, max-age=%d", int(d.Seconds()))
	if props.CacheControl != nil && *props.CacheControl == value {
		return nil
	}
	h := blob.ParseHTTPHeaders(props)
	h.BlobCacheControl = &value
	_, err = b.SetHTTPHeaders(ctx, h, &blob.SetHTTPHeadersOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: props.ETag},
		},
	})
	return err
}
