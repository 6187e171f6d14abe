package index

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Rows of a partition: "cust_<id>", "order_<id>", "ship_<id>".
type Desk struct{ table *aztables.Client }

const (
	prefixCustomer = "cust_"
	prefixOrder    = "order_"
)

func prefixFilter(pk, prefix string) string {
	end := prefix[:len(prefix)-1] + string(prefix[len(prefix)-1]+1)
	pk = strings.ReplaceAll(pk, "'", "''")
	prefix = strings.ReplaceAll(prefix, "'", "''")
	return "PartitionKey eq '" + pk + "' and RowKey ge '" + prefix + "' and RowKey lt '" + end + "'"
}

// OrderIDs lists the ids of the orders in a region.
func (d *Desk) OrderIDs(ctx context.Context, region string) ([]string, error) {
	pager := d.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr(prefixFilter(region, prefixOrder)),
		Select: to.Ptr("RowKey"),
	})
	ids := make([]string, 0, 64)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var k struct{ RowKey string }
			if err := json.Unmarshal(raw, &k); err != nil {
				return nil, err
			}
			ids = append(ids, k.RowKey[len(prefixOrder):])
		}
	}
	return ids, nil
}

// Customer reads one customer.
func (d *Desk) Customer(ctx context.Context, region, id string) ([]byte, error) {
	r, err := d.table.GetEntity(ctx, region, prefixCustomer+id, nil)
	return r.Value, err
}
