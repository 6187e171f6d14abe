package usage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Usage struct {
	PartitionKey string
	RowKey       string
	Bytes        int64  `json:",string"`
	BytesType    string `json:"Bytes@odata.type"`
	Files        int32
}

// Meter keeps the bytes and files that a tenant used in a month.
type Meter struct {
	table *aztables.Client
}

func (m *Meter) Set(ctx context.Context, tenant, month string, bytes int64, files int32) error {
	u := Usage{PartitionKey: tenant, RowKey: month, Bytes: bytes, Files: files}
	u.BytesType = "Edm.Int64"
	raw, err := json.Marshal(u)
	if err != nil {
		return err
	}
	_, err = m.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("usage of %s in %s: %w", tenant, month, err)
	}
	return nil
}

func (m *Meter) Get(ctx context.Context, tenant, month string) (*Usage, error) {
	resp, err := m.table.GetEntity(ctx, tenant, month, nil)
	if err != nil {
		return nil, err
	}
	u := new(Usage)
	if err := json.Unmarshal(resp.Value, u); err != nil {
		return nil, err
	}
	return u, nil
}
