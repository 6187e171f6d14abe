package basket

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Price struct {
	RowKey string
	Net    int32
}

type Prices struct{ c *aztables.Client }

// Month returns the price of each day of a month; the row key is the day, yyyymmdd.
func (p Prices) Month(ctx context.Context, article string, year int, month time.Month) ([]Price, error) {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	end := first.AddDate(0, 1, 0)
	var out []Price
	f := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s' and RowKey lt '%s'",
		strings.ReplaceAll(article, "'", "''"), first.Format("20060102"), end.Format("20060102"))
	pager := p.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var pr Price
			if err := json.Unmarshal(raw, &pr); err != nil {
				return nil, err
			}
			out = append(out, pr)
		}
	}
	return out, nil
}
