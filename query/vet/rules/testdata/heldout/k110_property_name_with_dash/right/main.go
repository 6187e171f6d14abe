package gateways

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type gateway struct {
	PartitionKey string
	RowKey       string
	Address      string `json:"address"`
	Retries      int32  `json:"retryCount"`
	Enabled      bool   `json:"enabled"`
}

type Gateways interface {
	Add(ctx context.Context, site uuid.UUID, address string, retries int32) (uuid.UUID, error)
}

type tableGateways struct {
	client *aztables.Client
}

func New(client *aztables.Client) Gateways { return tableGateways{client} }

func (t tableGateways) Add(ctx context.Context, site uuid.UUID, address string, retries int32) (uuid.UUID, error) {
	id := uuid.New()
	body, err := json.Marshal(gateway{
		PartitionKey: site.String(),
		RowKey:       id.String(),
		Address:      address,
		Retries:      retries,
		Enabled:      true,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("encoding gateway: %w", err)
	}
	if _, err := t.client.AddEntity(ctx, body, nil); err != nil {
		return uuid.Nil, fmt.Errorf("adding gateway: %w", err)
	}
	return id, nil
}
