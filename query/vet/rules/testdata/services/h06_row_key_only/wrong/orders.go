package orders

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type lister interface {
	NewListEntitiesPager(o *aztables.ListEntitiesOptions) *runtime.Pager[aztables.ListEntitiesResponse]
}

type Line struct {
	PartitionKey string
	RowKey       string
	Article      string
	Amount       int32
}

var ErrNoLines = errors.New("the order has no lines")

func lit(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func lineFilter(customer, order string) string {
	return "RowKey ge " + lit(order+"_") + " and RowKey lt " + lit(order+"`") // MISTAKE: without the customer's partition the range is looked for in all partitions
}

// Lines returns the lines of an order; rows are customer / order_line.
func Lines(ctx context.Context, t lister, customer, order string) ([]Line, error) {
	f := lineFilter(customer, order)
	pager := t.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	var lines []Line
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var l Line
			if err := json.Unmarshal(raw, &l); err != nil {
				return nil, err
			}
			if l.PartitionKey == customer {
				lines = append(lines, l)
			}
		}
	}
	if len(lines) == 0 {
		return nil, ErrNoLines
	}
	return lines, nil
}
