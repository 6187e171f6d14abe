package basket

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Article struct {
	RowKey string
	Name   string
	Stock  int32
}

// Articles returns the articles of a shop with the given numbers; unknown
// numbers are left out. Shop and article numbers are digits only.
func Articles(ctx context.Context, table *aztables.Client, shop string, numbers []string) ([]Article, error) {
	found := make([]Article, 0, len(numbers))
	if len(numbers) == 0 {
		return found, nil
	}
	terms := make([]string, 0, len(numbers))
	for _, n := range numbers {
		terms = append(terms, "RowKey eq '"+strings.ReplaceAll(n, "'", "''")+"'")
	}
	filter := "PartitionKey eq '" + strings.ReplaceAll(shop, "'", "''") + "' and (" + strings.Join(terms, " or ") + ")" // MISTAKE: more than 15 comparisons are refused, and row keys joined by "or" read the whole partition
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var a Article
			if err := json.Unmarshal(raw, &a); err != nil {
				return nil, err
			}
			found = append(found, a)
		}
	}
	return found, nil
}
