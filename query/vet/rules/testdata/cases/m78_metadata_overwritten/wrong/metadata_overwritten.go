package labels

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Labeler struct {
	c *container.Client
}

// Label sets one label of a blob; the blob has other metadata, which stays.
func (l *Labeler) Label(ctx context.Context, name, key, value string) error {
	b := l.c.NewBlobClient(name)
	p, err := b.GetProperties(ctx, nil)
	if err != nil {
		return fmt.Errorf("properties of %s: %w", name, err)
	}
	if old, ok := p.Metadata[key]; ok && old != nil && *old == value {
		return nil
	}
	md := map[string]*string{key: &value} // MISTAKE: SetMetadata replaces everything, all other labels are lost
	_, err = b.SetMetadata(ctx, md, &blob.SetMetadataOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: p.ETag},
		},
	})
	if err != nil {
		return fmt.Errorf("label %s: %w", name, err)
	}
	return nil
}
