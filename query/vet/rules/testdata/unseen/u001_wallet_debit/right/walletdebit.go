package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Wallet keeps prepaid balances, one row per customer.
type Wallet struct {
	table *aztables.Client
}

type walletRow struct {
	aztables.Entity
	BalanceCents int32
	Currency     string
}

var ErrInsufficient = errors.New("insufficient funds")

// Debit takes amount cents from the wallet of the given customer.
func (w *Wallet) Debit(ctx context.Context, region, customer string, amount int32) error {
	got, err := w.table.GetEntity(ctx, region, customer, nil)
	if err != nil {
		return fmt.Errorf("load wallet %s: %w", customer, err)
	}
	var row walletRow
	if err := json.Unmarshal(got.Value, &row); err != nil {
		return err
	}
	if row.BalanceCents < amount {
		return ErrInsufficient
	}
	row.BalanceCents -= amount
	payload, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = w.table.UpdateEntity(ctx, payload, &aztables.UpdateEntityOptions{
		IfMatch:    &got.ETag,
		UpdateMode: aztables.UpdateModeMerge,
	})
	if err != nil {
		return fmt.Errorf("store wallet %s: %w", customer, err)
	}
	return nil
}
