package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Price struct {
	RowKey string
	Cents  int32
}

type PriceList struct{ Client *aztables.Client }

// Lookup loads the prices of the articles of a cart.
func (p PriceList) Lookup(ctx context.Context, country string, skus []string) (map[string]int32, error) {
	prices := make(map[string]int32, len(skus))
	groups := [][]string{skus} // MISTAKE: all ids become one filter, more than 14 are refused
	for _, group := range groups {
		var or []string
		for _, s := range group {
			or = append(or, fmt.Sprintf("RowKey eq '%s'", strings.ReplaceAll(s, "'", "''")))
		}
		f := fmt.Sprintf("PartitionKey eq '%s' and (%s)", country, strings.Join(or, " or "))
		pager := p.Client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, raw := range page.Entities {
				var x Price
				if err := json.Unmarshal(raw, &x); err != nil {
					return nil, err
				}
				prices[x.RowKey] = x.Cents
			}
		}
	}
	return prices, nil
}
