package chapters

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const rangeFilter = "PartitionKey eq '%s' and RowKey ge '%s' and RowKey le '%s'"

type Book struct {
	pages *aztables.Client
	isbn  string
}

func pageKey(n int) string {
	return fmt.Sprintf("%06d", n)
}

func (b *Book) Store(ctx context.Context, n int, text string) error {
	raw, err := json.Marshal(map[string]string{
		"PartitionKey": b.isbn,
		"RowKey":       pageKey(n),
		"Text":         text,
	})
	if err != nil {
		return err
	}
	_, err = b.pages.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

func (b *Book) Between(ctx context.Context, from, until int) ([]string, error) {
	f := fmt.Sprintf(rangeFilter, strings.ReplaceAll(b.isbn, "'", "''"), pageKey(from), pageKey(until))
	pager := b.pages.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	var texts []string
	for pager.More() {
		resp, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range resp.Entities {
			var p struct{ Text string }
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, err
			}
			texts = append(texts, p.Text)
		}
	}
	return texts, nil
}
