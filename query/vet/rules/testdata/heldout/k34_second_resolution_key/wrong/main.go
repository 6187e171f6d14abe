package scans

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type scan struct {
	PartitionKey string
	RowKey       string
	Badge        string
	Granted      bool
}

type Door struct {
	ID    uuid.UUID
	table *aztables.Client
	now   func() time.Time
}

func New(table *aztables.Client, id uuid.UUID) *Door {
	return &Door{ID: id, table: table, now: time.Now}
}

// Scanned notes that a badge was held to the door.
func (d *Door) Scanned(ctx context.Context, badge uuid.UUID, granted bool) error {
	stamp := d.now().UTC().Format("20060102150405")
	body, err := json.Marshal(scan{
		PartitionKey: d.ID.String(),
		RowKey:       stamp, // MISTAKE: The row key has a resolution of one second and is upserted, so two readings within a second overwrite each other.
		Badge:        badge.String(),
		Granted:      granted,
	})
	if err != nil {
		return err
	}
	_, err = d.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("scan at door %s: %w", d.ID, err)
	}
	return nil
}
