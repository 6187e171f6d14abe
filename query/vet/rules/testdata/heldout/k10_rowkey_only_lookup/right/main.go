package devices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
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
	resp, err := r.table.GetEntity(ctx, tenant.String(), id.String(), nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return nil, ErrUnknownDevice
		}
		return nil, fmt.Errorf("finding device %s: %w", id, err)
	}
	var d Device
	if err := json.Unmarshal(resp.Value, &d); err != nil {
		return nil, fmt.Errorf("decoding device: %w", err)
	}
	return &d, nil
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
