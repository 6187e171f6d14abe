package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type order struct{ RowKey, Customer string }
type customer struct{ Name string }

type Report struct {
	orders, customers *aztables.Client
}

func (r *Report) name(ctx context.Context, region, id string) (string, error) {
	resp, err := r.customers.GetEntity(ctx, region, id, nil)
	if err != nil {
		return "", fmt.Errorf("customer %s: %w", id, err)
	}
	var c customer
	err = json.Unmarshal(resp.Value, &c)
	return c.Name, err
}

// Print lists the orders of a region; a few customers have most of the orders.
func (r *Report) Print(ctx context.Context, w io.Writer, region string) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(region, "'", "''") + "'"
	pager := r.orders.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Select: to.Ptr("RowKey,Customer")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var o order
			if err := json.Unmarshal(raw, &o); err != nil {
				return err
			}
			name, err := r.name(ctx, region, o.Customer) // MISTAKE: a read per order, the same customers again and again
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s\t%s\n", o.RowKey, name); err != nil {
				return err
			}
		}
	}
	return nil
}
