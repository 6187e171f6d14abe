package ordering

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type order struct {
	PartitionKey string
	RowKey       string
	Article      string
	State        string
}

type Service struct {
	orders *aztables.Client
	work   *azqueue.QueueClient
}

func (s *Service) save(ctx context.Context, o order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := s.orders.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("saving order %s: %w", o.RowKey, err)
	}
	return nil
}

func (s *Service) announce(ctx context.Context, o order) error {
	text, err := json.Marshal(map[string]string{"customer": o.PartitionKey, "order": o.RowKey})
	if err != nil {
		return err
	}
	if _, err := s.work.EnqueueMessage(ctx, string(text), nil); err != nil {
		return fmt.Errorf("announcing order %s: %w", o.RowKey, err)
	}
	return nil
}

// Submit takes an order. Orders that were saved but not announced are found by
// the hourly sweep over the state "new".
func (s *Service) Submit(ctx context.Context, customer, article uuid.UUID) (string, error) {
	o := order{PartitionKey: customer.String(), RowKey: uuid.NewString(), Article: article.String(), State: "new"}
	if err := s.save(ctx, o); err != nil {
		return "", err
	}
	if err := s.announce(ctx, o); err != nil {
		return "", err
	}
	return o.RowKey, nil
}
