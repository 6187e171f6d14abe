package right

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Score struct {
	Customer string
	Month    string
	Value    int32
}

type Writer struct{ table *aztables.Client }

func action(s Score) (aztables.TransactionAction, error) {
	b, err := json.Marshal(map[string]any{"PartitionKey": s.Customer, "RowKey": s.Month, "Value": s.Value})
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertMerge, Entity: b}, err
}

// WriteAll stores monthly scores of many customers.
func (w *Writer) WriteAll(ctx context.Context, scores []Score) error {
	pending := map[string][]aztables.TransactionAction{}
	for _, s := range scores {
		a, err := action(s)
		if err != nil {
			return err
		}
		pending[s.Customer] = append(pending[s.Customer], a)
	}
	for _, acts := range pending {
		for part := range slices.Chunk(acts, 100) {
			if _, err := w.table.SubmitTransaction(ctx, part, nil); err != nil {
				return fmt.Errorf("write scores: %w", err)
			}
		}
	}
	return nil
}
