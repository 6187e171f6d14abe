package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Address struct {
	Street, City string
}

type Supplier struct {
	PartitionKey string
	RowKey       string
	Name         string
	Tags         []string // MISTAKE: arrays cannot be stored as a property
	City         string
}

type SupplierRepo struct{ client *aztables.Client }

func (r *SupplierRepo) Create(ctx context.Context, country, name string, addr Address, tags []string) (string, error) {
	s := Supplier{PartitionKey: country, RowKey: uuid.NewString(), Name: name, City: addr.City}
	s.Tags = tags
	body, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	if _, err := r.client.AddEntity(ctx, body, nil); err != nil {
		return "", fmt.Errorf("create supplier %q: %w", name, err)
	}
	return s.RowKey, nil
}

func (r *SupplierRepo) Get(ctx context.Context, country, id string) (*Supplier, error) {
	resp, err := r.client.GetEntity(ctx, country, id, nil)
	if err != nil {
		return nil, err
	}
	s := &Supplier{}
	if err := json.Unmarshal(resp.Value, s); err != nil {
		return nil, fmt.Errorf("decode supplier %s: %w", id, err)
	}
	return s, nil
}
