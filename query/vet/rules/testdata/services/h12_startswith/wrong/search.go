package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Page struct {
	Rows [][]byte
}

type Articles struct {
	Table *aztables.Client
}

func lit(s string) string { return strings.ReplaceAll(s, "'", "''") }

// byPrefix returns the filter for articles whose code starts with a prefix of
// capital letters and digits.
func byPrefix(shop, prefix string) string {
	return fmt.Sprintf("PartitionKey eq '%s' and startswith(RowKey, '%s')", lit(shop), lit(prefix)) // MISTAKE: the table service has no functions in filters and answers 501
}

func (a *Articles) Find(ctx context.Context, shop, prefix string) (*Page, error) {
	if prefix == "" {
		return nil, fmt.Errorf("empty prefix")
	}
	filter := byPrefix(shop, strings.ToUpper(prefix))
	result := &Page{}
	for p := a.Table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); p.More(); {
		resp, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("search %q: %w", prefix, err)
		}
		result.Rows = append(result.Rows, resp.Entities...)
	}
	return result, nil
}
