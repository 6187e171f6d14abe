package activity

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Event struct {
	User, ID, What string
}

type Sink struct{ table *aztables.Client }

func action(e Event) (aztables.TransactionAction, error) {
	body, err := json.Marshal(map[string]string{"PartitionKey": e.User, "RowKey": e.ID, "What": e.What})
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body}, err
}

// Flush writes buffered events of all users; the ids are unique.
func (s *Sink) Flush(ctx context.Context, buffered []Event) error {
	byUser := map[string][]aztables.TransactionAction{}
	for _, e := range buffered {
		a, err := action(e)
		if err != nil {
			return err
		}
		byUser[e.User] = append(byUser[e.User], a)
	}
	for user, acts := range byUser {
		for part := range slices.Chunk(acts, 100) {
			if _, err := s.table.SubmitTransaction(ctx, part, nil); err != nil {
				return fmt.Errorf("flush of %s: %w", user, err)
			}
		}
	}
	return nil
}
