package right

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Account struct {
	aztables.Entity
	Email   string `json:"Email"`
	Blocked bool   `json:"Blocked"`
	Plan    string `json:"Plan"`
}

type Accounts struct {
	table *aztables.Client
}

func (s *Accounts) update(ctx context.Context, tenant, id string, change func(*Account)) error {
	got, err := s.table.GetEntity(ctx, tenant, id, nil)
	if err != nil {
		return fmt.Errorf("account %s: %w", id, err)
	}
	var acc Account
	if err := json.Unmarshal(got.Value, &acc); err != nil {
		return err
	}
	change(&acc)
	buf, err := json.Marshal(acc)
	if err != nil {
		return err
	}
	opt := aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge, IfMatch: &got.ETag}
	_, err = s.table.UpdateEntity(ctx, buf, &opt)
	return err
}

func (s *Accounts) Block(ctx context.Context, tenant, id string) error {
	return s.update(ctx, tenant, id, func(a *Account) { a.Blocked = true })
}

func (s *Accounts) Unblock(ctx context.Context, tenant, id string) error {
	return s.update(ctx, tenant, id, func(a *Account) { a.Blocked = false })
}
