package chapters

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Chapter struct {
	PartitionKey string
	RowKey       string
	Title        string
}

func key(n int) string {
	return fmt.Sprintf("%06d", n)
}

type Book struct {
	table *aztables.Client
	id    string
}

func (b *Book) Put(ctx context.Context, n int, title string) error {
	raw, err := json.Marshal(Chapter{PartitionKey: b.id, RowKey: key(n), Title: title})
	if err != nil {
		return err
	}
	_, err = b.table.UpsertEntity(ctx, raw, nil)
	return err
}

// Range returns the titles of the chapters from first to last.
func (b *Book) Range(ctx context.Context, first, last int) ([]string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s' and RowKey le '%s'",
		strings.ReplaceAll(b.id, "'", "''"), key(first), key(last))
	var titles []string
	pager := b.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var c Chapter
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, err
			}
			titles = append(titles, c.Title)
		}
	}
	return titles, nil
}
