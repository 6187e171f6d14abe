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
	acts := make([]aztables.TransactionAction, 0, len(buffered))
	for _, e := range buffered {
		a, err := action(e)
		if err != nil {
			return err
		}
		acts = append(acts, a)
	}
	for part := range slices.Chunk(acts, 100) {
		if _, err := s.table.SubmitTransaction(ctx, part, nil); err != nil { // MISTAKE: the events of several users lie in several partitions
			return fmt.Errorf("flush: %w", err)
		}
	}
	return nil
}
