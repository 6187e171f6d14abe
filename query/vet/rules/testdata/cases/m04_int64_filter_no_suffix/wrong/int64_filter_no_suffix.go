package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Bookings struct {
	table *aztables.Client
}

// Write stores the amount as Edm.Int64.
func (b *Bookings) Write(ctx context.Context, account, id string, cents int64) error {
	e := aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: account, RowKey: id},
		Properties: map[string]any{"Cents": aztables.EDMInt64(cents)},
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = b.table.AddEntity(ctx, body, nil)
	return err
}

// Large returns the ids of the bookings of at least min cents.
func (b *Bookings) Large(ctx context.Context, account string, min int64) ([]string, error) {
	acc := strings.ReplaceAll(account, "'", "''")
	q := fmt.Sprintf("PartitionKey eq '%s' and Cents ge %d", acc, min) // MISTAKE: an Int64 property needs a literal with L
	pager := b.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(q)})
	var ids []string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			ids = append(ids, e.RowKey)
		}
	}
	return ids, nil
}
