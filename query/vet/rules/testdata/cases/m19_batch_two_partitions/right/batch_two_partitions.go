package transfer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Money struct {
	From, To string
	ID       string
	Cents    int32
}

type Bank struct{ entries *aztables.Client }

func row(pk, rk string, m Money, sign int32) ([]byte, error) {
	return json.Marshal(map[string]any{
		"PartitionKey": pk,
		"RowKey":       rk,
		"Cents":        sign * m.Cents,
	})
}

// Post books both sides of a transfer as one unit.
func (b *Bank) Post(ctx context.Context, bank string, m Money) error {
	out, err := row(bank, m.From+"_entry_"+m.ID, m, -1)
	if err != nil {
		return err
	}
	in, err := row(bank, m.To+"_entry_"+m.ID, m, 1)
	if err != nil {
		return err
	}
	_, err = b.entries.SubmitTransaction(ctx, []aztables.TransactionAction{
		{ActionType: aztables.TransactionTypeAdd, Entity: out},
		{ActionType: aztables.TransactionTypeAdd, Entity: in},
	}, nil)
	if err != nil {
		return fmt.Errorf("post %s at %s: %w", m.ID, bank, err)
	}
	return nil
}
