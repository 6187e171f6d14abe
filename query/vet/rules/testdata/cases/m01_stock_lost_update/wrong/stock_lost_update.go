package stock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Item is one article of a warehouse shelf.
type Item struct {
	aztables.Entity
	Name  string
	Count int32
}

type Repo struct {
	items *aztables.Client
}

func NewRepo(c *aztables.Client) *Repo { return &Repo{items: c} }

// Take removes n pieces from the shelf.
func (r *Repo) Take(ctx context.Context, shelf, sku string, n int32) error {
	resp, err := r.items.GetEntity(ctx, shelf, sku, nil)
	if err != nil {
		return fmt.Errorf("read %s/%s: %w", shelf, sku, err)
	}
	var it Item
	if err := json.Unmarshal(resp.Value, &it); err != nil {
		return err
	}
	if it.Count < n {
		return errors.New("not enough stock")
	}
	body, err := json.Marshal(map[string]any{"PartitionKey": shelf, "RowKey": sku, "Count": it.Count - n})
	if err != nil {
		return err
	}
	_, err = r.items.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}) // MISTAKE: the new count is written without If-Match, two takers overwrite each other
	return err
}
