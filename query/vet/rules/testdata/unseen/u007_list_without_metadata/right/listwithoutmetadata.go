package right

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type sessionRow struct {
	PartitionKey string
	RowKey       string
	LastSeen     string
	ETag         string `json:"odata.etag"`
}

// Sweeper removes sessions that no one used for a while.
type Sweeper struct {
	Table *aztables.Client
	Idle  time.Duration
	query aztables.ListEntitiesOptions
}

func NewSweeper(t *aztables.Client, idle time.Duration) *Sweeper {
	return &Sweeper{Table: t, Idle: idle, query: aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq 'web'"),
		Format: to.Ptr(aztables.MetadataFormatMinimal),
	}}
}

func (s *Sweeper) Run(ctx context.Context, now time.Time) (removed int, err error) {
	pager := s.Table.NewListEntitiesPager(&s.query)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return removed, err
		}
		for _, b := range page.Entities {
			var row sessionRow
			if err := json.Unmarshal(b, &row); err != nil {
				return removed, err
			}
			seen, err := time.Parse(time.RFC3339, row.LastSeen)
			if err != nil || now.Sub(seen) < s.Idle {
				continue
			}
			tag := azcore.ETag(row.ETag)
			if _, err := s.Table.DeleteEntity(ctx, row.PartitionKey, row.RowKey, &aztables.DeleteEntityOptions{IfMatch: &tag}); err != nil {
				return removed, fmt.Errorf("delete %s: %w", row.RowKey, err)
			}
			removed++
		}
	}
	return removed, nil
}
