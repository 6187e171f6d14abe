package cleanup

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type account struct {
	PartitionKey string
	RowKey       string
	Locked       bool
}

type Job struct {
	accounts *aztables.Client
}

// Unlock takes the lock off all accounts of a tenant.
func (j *Job) Unlock(ctx context.Context, tenant uuid.UUID) error {
	pager := j.accounts.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr(fmt.Sprintf("PartitionKey eq '%s' and Locked eq true", tenant)),
		Select: to.Ptr("PartitionKey,RowKey,Locked"),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("locked accounts: %w", err)
		}
		for _, raw := range page.Entities {
			var a account
			if err := json.Unmarshal(raw, &a); err != nil {
				return err
			}
			body, err := json.Marshal(map[string]any{"PartitionKey": a.PartitionKey, "RowKey": a.RowKey, "Locked": false})
			if err != nil {
				return err
			}
			_, err = j.accounts.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
				UpdateMode: aztables.UpdateModeMerge,
			})
			if err != nil {
				return fmt.Errorf("unlocking %s: %w", a.RowKey, err)
			}
		}
	}
	return nil
}
