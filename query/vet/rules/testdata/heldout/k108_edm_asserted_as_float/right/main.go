package limits

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

const standard = 100

type Limits struct {
	table *aztables.Client
}

func (l *Limits) Set(ctx context.Context, tenant uuid.UUID, perMinute int32) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: tenant.String(), RowKey: "limit"},
		Properties: map[string]any{"PerMinute": perMinute},
	})
	if err != nil {
		return err
	}
	_, err = l.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Get returns how many calls a tenant may make in a minute.
func (l *Limits) Get(ctx context.Context, tenant uuid.UUID) (int, error) {
	resp, err := l.table.GetEntity(ctx, tenant.String(), "limit", nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return standard, nil
	}
	if err != nil {
		return 0, fmt.Errorf("limit of %s: %w", tenant, err)
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(resp.Value, &e); err != nil {
		return 0, fmt.Errorf("decoding limit: %w", err)
	}
	n, ok := e.Properties["PerMinute"].(int32)
	if !ok {
		return 0, fmt.Errorf("limit of %s is %T", tenant, e.Properties["PerMinute"])
	}
	return int(n), nil
}
