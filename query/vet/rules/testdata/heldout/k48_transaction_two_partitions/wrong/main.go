package transfers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Transfer struct {
	Bank  uuid.UUID
	Payer uuid.UUID
	Payee uuid.UUID
	Cents int32
	At    time.Time
}

type Journal struct{ table *aztables.Client }

func row(partition, key string, cents int32) (aztables.TransactionAction, error) {
	body, err := json.Marshal(map[string]any{"PartitionKey": partition, "RowKey": key, "Cents": cents})
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body}, err
}

// Book writes both sides of a transfer at once.
func (j *Journal) Book(ctx context.Context, t Transfer) error {
	id := fmt.Sprintf("%019d-%s", t.At.UnixNano(), uuid.NewString())
	debit, err := row(t.Payer.String(), id, -t.Cents)
	if err != nil {
		return err
	}
	credit, err := row(t.Payee.String(), id, t.Cents)
	if err != nil {
		return err
	}
	_, err = j.table.SubmitTransaction(ctx, []aztables.TransactionAction{debit, credit}, nil) // MISTAKE: The transaction mixes the rows of payer and payee, which live in different partitions, and is always rejected.
	if err != nil {
		return fmt.Errorf("booking transfer: %w", err)
	}
	return nil
}
