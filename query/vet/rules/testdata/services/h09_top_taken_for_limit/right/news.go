package news

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Item struct {
	RowKey string
	Title  string
}

type Feed struct {
	table *aztables.Client
	limit int32
}

func NewFeed(table *aztables.Client, limit int32) *Feed {
	if limit < 1 || limit > 100 {
		limit = 10
	}
	return &Feed{table: table, limit: limit}
}

// Newest returns the newest items of a channel; row keys are inverted times.
func (f *Feed) Newest(ctx context.Context, channel string) ([]Item, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(channel, "'", "''") + "'"
	pager := f.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Top: &f.limit})
	items := make([]Item, 0, f.limit)
	for pager.More() && len(items) < int(f.limit) {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			if len(items) == int(f.limit) {
				break
			}
			var it Item
			if err := json.Unmarshal(raw, &it); err != nil {
				return nil, err
			}
			items = append(items, it)
		}
	}
	return items, nil
}
