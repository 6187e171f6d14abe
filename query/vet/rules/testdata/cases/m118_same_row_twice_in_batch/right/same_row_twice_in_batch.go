package cart

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Line struct {
	SKU   string
	Cents int32
}

type Carts struct{ *aztables.Client }

func row(pk, rk string, cents int32) ([]byte, error) {
	return json.Marshal(map[string]any{"PartitionKey": pk, "RowKey": rk, "Cents": cents})
}

// Fill writes the lines of a new cart, each SKU once and at most 90 of them, and the row with the sum.
func (c Carts) Fill(ctx context.Context, cart string, lines []Line) error {
	acts := make([]aztables.TransactionAction, 0, len(lines)+1)
	put := func(rk string, cents int32) error {
		body, err := row(cart, rk, cents)
		if err != nil {
			return err
		}
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
		return nil
	}
	var sum int32
	for _, l := range lines {
		if err := put("line_"+l.SKU, l.Cents); err != nil {
			return err
		}
		sum += l.Cents
	}
	if err := put("sum", sum); err != nil {
		return err
	}
	_, err := c.SubmitTransaction(ctx, acts, nil)
	if err != nil {
		return fmt.Errorf("cart %s: %w", cart, err)
	}
	return nil
}
