package articles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Article struct {
	Section, Slug string
	Title         string
	Body          string
}

type CMS struct {
	t *aztables.Client
	b *container.Client
}

// Save stores an article; some bodies have several hundred kilobytes.
func (c *CMS) Save(ctx context.Context, a Article) error {
	sum := sha256.Sum256([]byte(a.Body))
	name := a.Section + "/" + a.Slug + "/" + hex.EncodeToString(sum[:])
	if _, err := c.b.NewBlockBlobClient(name).UploadBuffer(ctx, []byte(a.Body), nil); err != nil {
		return fmt.Errorf("body of %s: %w", a.Slug, err)
	}
	row, err := json.Marshal(map[string]any{
		"PartitionKey": a.Section,
		"RowKey":       a.Slug,
		"Title":        a.Title,
		"BodyBlob":     name,
	})
	if err != nil {
		return err
	}
	_, err = c.t.UpsertEntity(ctx, row, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("save %s: %w", a.Slug, err)
	}
	return nil
}
