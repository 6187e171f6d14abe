package backup

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

type blobs interface {
	NewListBlobsFlatPager(container string, o *azblob.ListBlobsFlatOptions) *runtime.Pager[azblob.ListBlobsFlatResponse]
	DeleteBlob(ctx context.Context, container, name string, o *azblob.DeleteBlobOptions) (azblob.DeleteBlobResponse, error)
}

type Backups struct {
	store     blobs
	container string
}

func New(c *azblob.Client, container string) *Backups { return &Backups{c, container} }

func (b *Backups) list(ctx context.Context, prefix string) ([]string, error) {
	pager := b.store.NewListBlobsFlatPager(b.container, &azblob.ListBlobsFlatOptions{
		Prefix:     &prefix,
		MaxResults: to.Ptr(int32(5000)),
	})
	var names []string
	if pager.More() { // MISTAKE: more than 5000 blobs, or a short first page, leave the rest out
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		for _, item := range page.Segment.BlobItems {
			names = append(names, *item.Name)
		}
	}
	return names, nil
}

// Prune deletes the oldest backups of a host but keep of them. Names end in
// a time that sorts as text.
func (b *Backups) Prune(ctx context.Context, host string, keep int) error {
	names, err := b.list(ctx, host+"/")
	if err != nil {
		return err
	}
	for len(names) > keep {
		if _, err := b.store.DeleteBlob(ctx, b.container, names[0], nil); err != nil {
			return err
		}
		names = names[1:]
	}
	return nil
}
