package retention

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Rows live in partitions like "20240517-07": the day and one of 16 buckets.
type keys struct {
	PartitionKey string
	RowKey       string
}

type Sweeper struct {
	table *aztables.Client
	keep  time.Duration
}

// Sweep removes the rows that are older than the retention time.
func (s *Sweeper) Sweep(ctx context.Context, now time.Time) (int, error) {
	limit := now.Add(-s.keep).UTC()
	filter := fmt.Sprintf("Timestamp lt datetime'%s'", limit.Format(time.RFC3339)) // MISTAKE: Old rows are searched by Timestamp, which is not indexed, so every run scans the whole table.
	pager := s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &filter,
		Select: to.Ptr("PartitionKey,RowKey"),
	})
	removed := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return removed, fmt.Errorf("old rows: %w", err)
		}
		for _, raw := range page.Entities {
			var k keys
			if err := json.Unmarshal(raw, &k); err != nil {
				return removed, err
			}
			if _, err := s.table.DeleteEntity(ctx, k.PartitionKey, k.RowKey, nil); err != nil {
				return removed, fmt.Errorf("removing %s/%s: %w", k.PartitionKey, k.RowKey, err)
			}
			removed++
		}
	}
	return removed, nil
}
