package kv

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrFunds = errors.New("not enough points")

type account struct {
	PartitionKey string
	RowKey       string
	Points       int32
}

func (a account) Key() (string, string) { return a.PartitionKey, a.RowKey }

type Accounts struct{ table *aztables.Client }

// Spend takes points from the account of a customer.
func (a *Accounts) Spend(ctx context.Context, shop, customer uuid.UUID, points int32) error {
	return modify(ctx, a.table, shop.String(), customer.String(), func(acc *account) error {
		if acc.Points < points {
			return ErrFunds
		}
		acc.Points -= points
		return nil
	})
}
