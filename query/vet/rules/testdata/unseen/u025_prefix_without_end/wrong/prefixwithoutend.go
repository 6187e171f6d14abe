package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type OrderKey struct {
	Customer string
	Number   string
}

type OrderIndex struct {
	Table *aztables.Client
}

// rows are keyed <customer>_<number> inside the partition of a shop
func split(rowKey string) OrderKey {
	c, n, _ := strings.Cut(rowKey, "_")
	return OrderKey{Customer: c, Number: n}
}

func (ix OrderIndex) ForCustomer(ctx context.Context, shop, customer string) (keys []OrderKey, err error) {
	first := customer + "_"
	q := new(strings.Builder)
	fmt.Fprintf(q, "PartitionKey eq '%s' and RowKey ge '%s'", shop, first) // MISTAKE: the range is open at its end
	opt := &aztables.ListEntitiesOptions{
		Filter: to.Ptr(q.String()),
		Select: to.Ptr("RowKey"),
	}
	it := ix.Table.NewListEntitiesPager(opt)
	for it.More() {
		page, err := it.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, ent := range page.Entities {
			var row struct{ RowKey string }
			if err = json.Unmarshal(ent, &row); err != nil {
				return nil, err
			}
			keys = append(keys, split(row.RowKey))
		}
	}
	return keys, nil
}
