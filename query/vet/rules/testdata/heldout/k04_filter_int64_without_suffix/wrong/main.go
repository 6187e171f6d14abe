package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Checkpoints struct {
	table *aztables.Client
}

func (c *Checkpoints) Save(ctx context.Context, stream, reader uuid.UUID, offset int64) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: stream.String(), RowKey: reader.String()},
		Properties: map[string]any{"Offset": aztables.EDMInt64(offset)},
	})
	if err != nil {
		return err
	}
	_, err = c.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("saving checkpoint of %s: %w", reader, err)
	}
	return nil
}

// Behind names the readers that have not reached the given offset.
func (c *Checkpoints) Behind(ctx context.Context, stream uuid.UUID, offset int64) ([]string, error) {
	filter := "PartitionKey eq '" + stream.String() + "'"
	filter += " and Offset lt " + strconv.FormatInt(offset, 10) // MISTAKE: Offset is stored as Edm.Int64, but the literal has no L suffix and does not fit the 32-bit type it is read as.
	var readers []string
	pager := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing checkpoints: %w", err)
		}
		for _, raw := range page.Entities {
			var row struct{ RowKey string }
			if err := json.Unmarshal(raw, &row); err != nil {
				return nil, err
			}
			readers = append(readers, row.RowKey)
		}
	}
	return readers, nil
}
