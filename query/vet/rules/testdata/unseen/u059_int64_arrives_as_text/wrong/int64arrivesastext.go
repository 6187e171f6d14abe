package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type usage struct {
	RowKey string
	Bytes  int64 // MISTAKE: Edm.Int64 arrives as a quoted string, decoding fails
}

type Billing struct {
	traffic *aztables.Client
	perGiB  float64
}

func (b *Billing) Add(ctx context.Context, customer, day string, n int64) error {
	e := aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: customer, RowKey: day},
		Properties: map[string]any{"Bytes": aztables.EDMInt64(n)},
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = b.traffic.AddEntity(ctx, raw, nil)
	return err
}

// Invoice sums the traffic of a month, for example 202403.
func (b *Billing) Invoice(ctx context.Context, customer, month string) (float64, error) {
	f := fmt.Sprintf("PartitionKey eq '%[1]s' and RowKey ge '%[2]s01' and RowKey le '%[2]s31'", customer, month)
	var total int64
	pager := b.traffic.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		for _, raw := range page.Entities {
			var u usage
			if err := json.Unmarshal(raw, &u); err != nil {
				return 0, fmt.Errorf("usage row: %w", err)
			}
			total += int64(u.Bytes)
		}
	}
	return float64(total) / (1 << 30) * b.perGiB, nil
}
