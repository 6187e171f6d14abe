package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Meter struct{ table *aztables.Client }

// Set stores the used bytes as Edm.Int64.
func (m *Meter) Set(ctx context.Context, tenant string, used int64) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: tenant, RowKey: "usage"},
		Properties: map[string]any{"Bytes": aztables.EDMInt64(used)},
	})
	if err != nil {
		return err
	}
	_, err = m.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Used returns what a tenant uses; a tenant without row uses nothing.
func (m *Meter) Used(ctx context.Context, tenant string) (int64, error) {
	resp, err := m.table.GetEntity(ctx, tenant, "usage", nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var row aztables.EDMEntity
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return 0, err
	}
	n, ok := row.Properties["Bytes"].(aztables.EDMInt64)
	if !ok {
		return 0, fmt.Errorf("usage of %s has no Bytes", tenant)
	}
	return int64(n), nil
}
