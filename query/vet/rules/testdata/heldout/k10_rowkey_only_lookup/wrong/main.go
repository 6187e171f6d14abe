package devices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrUnknownDevice = errors.New("unknown device")

type Device struct {
	PartitionKey string
	RowKey       string
	Model        string
}

type Registry struct {
	table *aztables.Client
}

// Find returns a device of a tenant; the tenant is the partition key.
func (r *Registry) Find(ctx context.Context, tenant, id uuid.UUID) (*Device, error) {
	filter := fmt.Sprintf("RowKey eq '%s'", id) // MISTAKE: The lookup filters on RowKey alone although the tenant is known, so the service scans every partition.
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("finding device %s: %w", id, err)
		}
		for _, raw := range page.Entities {
			var d Device
			if err := json.Unmarshal(raw, &d); err != nil {
				return nil, fmt.Errorf("decoding device: %w", err)
			}
			if d.PartitionKey == tenant.String() {
				return &d, nil
			}
		}
	}
	return nil, ErrUnknownDevice
}

// Rename gives a device another model name.
func (r *Registry) Rename(ctx context.Context, tenant, id uuid.UUID, model string) error {
	body, err := json.Marshal(map[string]any{
		"PartitionKey": tenant.String(),
		"RowKey":       id.String(),
		"Model":        model,
	})
	if err != nil {
		return err
	}
	if _, err := r.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}); err != nil {
		return fmt.Errorf("renaming device %s: %w", id, err)
	}
	return nil
}
