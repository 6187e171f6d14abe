package rehome

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Copier struct {
	src, dst *aztables.Client
}

// Copy copies the rows of a partition to another account; rows are small and have text, date-time and 64-bit properties.
func (c *Copier) Copy(ctx context.Context, pk string) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(pk, "'", "''") + "'"
	pager := c.src.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &f,
		Format: to.Ptr(aztables.MetadataFormatMinimal),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(page.Entities, 100) {
			acts := make([]aztables.TransactionAction, 0, len(part))
			for _, raw := range part {
				var e aztables.EDMEntity
				if err := json.Unmarshal(raw, &e); err != nil {
					return err
				}
				body, err := json.Marshal(aztables.EDMEntity{
					Entity:     aztables.Entity{PartitionKey: e.PartitionKey, RowKey: e.RowKey},
					Properties: e.Properties,
				})
				if err != nil {
					return err
				}
				acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
			}
			if _, err := c.dst.SubmitTransaction(ctx, acts, nil); err != nil {
				return fmt.Errorf("copy %s: %w", pk, err)
			}
		}
	}
	return nil
}
