package articles

import (
	"context"
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
	row, err := json.Marshal(map[string]any{
		"PartitionKey": a.Section,
		"RowKey":       a.Slug,
		"Title":        a.Title,
		"Body":         a.Body, // MISTAKE: one string property holds 64 KiB at most, long texts belong into a blob
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
