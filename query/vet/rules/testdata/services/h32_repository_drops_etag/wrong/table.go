package counter

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Counter struct {
	PartitionKey string
	RowKey       string
	Likes        int32
}

type tableRepo struct {
	table *aztables.Client
}

func NewRepository(t *aztables.Client) Repository { return &tableRepo{table: t} }

func (r *tableRepo) Load(ctx context.Context, site, page string) (Counter, error) {
	var c Counter
	resp, err := r.table.GetEntity(ctx, site, page, nil)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(resp.Value, &c)
}

func (r *tableRepo) Save(ctx context.Context, c Counter) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = r.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}
