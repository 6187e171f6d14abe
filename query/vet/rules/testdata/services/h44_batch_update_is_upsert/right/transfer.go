package transfer

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Account struct {
	PartitionKey string
	RowKey       string
	Cents        int32
	etag         azcore.ETag
}

type Bank struct{ table *aztables.Client }

func (b *Bank) read(ctx context.Context, customer, id string) (*Account, error) {
	resp, err := b.table.GetEntity(ctx, customer, id, nil)
	if err != nil {
		return nil, err
	}
	a := &Account{etag: resp.ETag}
	return a, json.Unmarshal(resp.Value, a)
}

func (a *Account) action() (aztables.TransactionAction, error) {
	raw, err := json.Marshal(a)
	return aztables.TransactionAction{
		ActionType: aztables.TransactionTypeUpdateReplace,
		Entity:     raw,
		IfMatch:    &a.etag,
	}, err
}

// Move moves money between two accounts of one customer.
func (b *Bank) Move(ctx context.Context, customer, from, to string, cents int32) error {
	if from == to {
		return errors.New("one account only")
	}
	src, err := b.read(ctx, customer, from)
	if err != nil {
		return err
	}
	dst, err := b.read(ctx, customer, to)
	if err != nil {
		return err
	}
	if src.Cents < cents {
		return errors.New("not enough money")
	}
	src.Cents, dst.Cents = src.Cents-cents, dst.Cents+cents
	var batch []aztables.TransactionAction
	for _, a := range []*Account{src, dst} {
		act, err := a.action()
		if err != nil {
			return err
		}
		batch = append(batch, act)
	}
	_, err = b.table.SubmitTransaction(ctx, batch, nil)
	return err
}
