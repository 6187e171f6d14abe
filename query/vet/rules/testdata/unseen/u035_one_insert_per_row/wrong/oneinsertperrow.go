package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Line struct {
	SKU string
	Qty int32
}

type Orders struct{ lines *aztables.Client }

func lineEntity(order string, i int, l Line) ([]byte, error) {
	return json.Marshal(map[string]any{
		"PartitionKey": order,
		"RowKey":       fmt.Sprintf("%04d", i),
		"SKU":          l.SKU,
		"Qty":          l.Qty,
	})
}

const maxLines = 100

// Store writes the lines of a new order.
func (o *Orders) Store(ctx context.Context, order string, lines []Line) error {
	if len(lines) == 0 || len(lines) > maxLines {
		return fmt.Errorf("an order has 1 to %d lines", maxLines)
	}
	for i, l := range lines {
		e, err := lineEntity(order, i, l)
		if err != nil {
			return err
		}
		if _, err := o.lines.AddEntity(ctx, e, nil); err != nil { // MISTAKE: a request per line, and a failure leaves a part of the order
			return fmt.Errorf("order %s: %w", order, err)
		}
	}
	return nil
}
