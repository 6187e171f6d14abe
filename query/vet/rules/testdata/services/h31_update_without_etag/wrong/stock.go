package stock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Item struct {
	PartitionKey string
	RowKey       string
	Quantity     int32
}

var ErrShort = errors.New("not enough on stock")

// Take lowers the stock of an article by n. The caller repeats the call when
// another writer was faster.
func Take(ctx context.Context, table *aztables.Client, store, article string, n int32) error {
	resp, err := table.GetEntity(ctx, store, article, nil)
	if err != nil {
		return fmt.Errorf("read stock: %w", err)
	}
	var item Item
	if err := json.Unmarshal(resp.Value, &item); err != nil {
		return err
	}
	if item.Quantity < n {
		return ErrShort
	}
	item.Quantity -= n
	raw, err := json.Marshal(item)
	if err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, raw, nil) // MISTAKE: without IfMatch two takers overwrite each other and an article is sold twice
	if err != nil {
		return fmt.Errorf("write stock: %w", err)
	}
	return nil
}
