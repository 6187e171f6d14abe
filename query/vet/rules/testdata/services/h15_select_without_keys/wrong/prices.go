package prices

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const columns = "Currency,Cents" // MISTAKE: RowKey is not selected, so every price below gets an empty article number

type row struct {
	RowKey   string
	Currency string
	Cents    int32
}

type Price struct {
	Article  string
	Currency string
	Cents    int32
}

// List returns the prices of a list, by article number.
func List(ctx context.Context, table *aztables.Client, list string) (map[string]Price, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(list, "'", "''") + "'"
	sel := columns
	opts := aztables.ListEntitiesOptions{Filter: &filter, Select: &sel}
	prices := make(map[string]Price)
	pager := table.NewListEntitiesPager(&opts)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var r row
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, err
			}
			prices[r.RowKey] = Price{Article: r.RowKey, Currency: r.Currency, Cents: r.Cents}
		}
	}
	return prices, nil
}
