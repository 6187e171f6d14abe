package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Recipe struct {
	PartitionKey string
	RowKey       string
	Title        string
	Steps        string
}

// Recipes keeps recipes under cook and id.
type Recipes struct {
	table *aztables.Client
}

func New(table *aztables.Client) *Recipes { return &Recipes{table: table} }

func (r *Recipes) Get(ctx context.Context, cook, id string) (*Recipe, error) {
	resp, err := r.table.GetEntity(ctx, cook, id, nil)
	if err != nil {
		return nil, fmt.Errorf("recipe %s/%s: %w", cook, id, err)
	}
	var recipe Recipe
	if err := json.Unmarshal(resp.Value, &recipe); err != nil {
		return nil, fmt.Errorf("recipe %s/%s: %w", cook, id, err)
	}
	return &recipe, nil
}
