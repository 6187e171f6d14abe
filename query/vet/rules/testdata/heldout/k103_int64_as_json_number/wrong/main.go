package files

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type file struct {
	PartitionKey string
	RowKey       string
	Name         string
	Size         int64 // MISTAKE: The file size is written as a plain JSON number, which the service takes as Int32 or Double instead of Int64.
}

type Index struct {
	table *aztables.Client
}

// Put enters a file of any size into the index of a share.
func (i *Index) Put(ctx context.Context, share, id uuid.UUID, name string, size int64) error {
	row := file{
		PartitionKey: share.String(),
		RowKey:       id.String(),
		Name:         name,
		Size:         size,
	}
	body, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = i.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("indexing %s: %w", id, err)
	}
	return nil
}
