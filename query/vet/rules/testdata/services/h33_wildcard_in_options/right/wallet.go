package wallet

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Wallet struct {
	PartitionKey string
	RowKey       string
	Points       int32
}

type Book struct {
	table *aztables.Client
}

func replaceOptions(seen azcore.ETag) *aztables.UpdateEntityOptions {
	return &aztables.UpdateEntityOptions{IfMatch: &seen, UpdateMode: aztables.UpdateModeReplace}
}

// change reads a wallet, lets fn change it and writes it back.
func (b *Book) change(ctx context.Context, region, id string, fn func(*Wallet) error) error {
	got, err := b.table.GetEntity(ctx, region, id, nil)
	if err != nil {
		return err
	}
	var w Wallet
	if err := json.Unmarshal(got.Value, &w); err != nil {
		return err
	}
	if err := fn(&w); err != nil {
		return err
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = b.table.UpdateEntity(ctx, raw, replaceOptions(got.ETag))
	return err
}

func (b *Book) Spend(ctx context.Context, region, id string, points int32) error {
	return b.change(ctx, region, id, func(w *Wallet) error {
		if w.Points < points {
			return errors.New("not enough points")
		}
		w.Points -= points
		return nil
	})
}
