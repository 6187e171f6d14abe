package purge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type keys struct {
	PartitionKey string
	RowKey       string
}

// Partition deletes all rows of a tenant and tells how many there were.
func Partition(ctx context.Context, table *aztables.Client, tenant uuid.UUID) (int, error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq '" + tenant.String() + "'"),
		Select: to.Ptr("PartitionKey,RowKey"),
	})
	deleted := 0
	var batch []aztables.TransactionAction
	flush := func() error {
		if _, err := table.SubmitTransaction(ctx, batch, nil); err != nil {
			return fmt.Errorf("purging %s: %w", tenant, err)
		}
		deleted += len(batch)
		batch = nil
		return nil
	}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return deleted, fmt.Errorf("listing %s: %w", tenant, err)
		}
		for _, raw := range page.Entities {
			var k keys
			if err := json.Unmarshal(raw, &k); err != nil {
				return deleted, err
			}
			body, err := json.Marshal(k)
			if err != nil {
				return deleted, err
			}
			batch = append(batch, aztables.TransactionAction{ActionType: aztables.TransactionTypeDelete, Entity: body})
			if len(batch) == 100 {
				if err := flush(); err != nil {
					return deleted, err
				}
			}
		}
	}
	if len(batch) == 0 {
		return deleted, nil
	}
	err := flush()
	return deleted, err
}
