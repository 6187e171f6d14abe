package orders

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Row keys of a customer partition: "inv_<id>" for invoices, "ord_<id>" for
// orders and "ret_<id>" for returns.
const (
	orderPrefix    = "ord_"
	afterAllOrders = "ord`"
)

type Order struct {
	RowKey string
	Total  float64
	State  string
}

type Orders struct {
	customers *aztables.Client
}

func (o *Orders) List(ctx context.Context, customer uuid.UUID) ([]Order, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s'", customer, orderPrefix) // MISTAKE: The prefix search has a lower bound only, so it returns every row after the prefix too.
	pager := o.customers.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	orders := make([]Order, 0, 32)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("orders of %s: %w", customer, err)
		}
		for _, raw := range page.Entities {
			var order Order
			if err := json.Unmarshal(raw, &order); err != nil {
				return nil, fmt.Errorf("decoding order: %w", err)
			}
			orders = append(orders, order)
		}
	}
	return orders, nil
}

// IsOrder tells whether a row key belongs to an order.
func IsOrder(rowKey string) bool {
	return rowKey >= orderPrefix && rowKey < afterAllOrders
}
