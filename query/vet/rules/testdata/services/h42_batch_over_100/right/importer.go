package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Swimmer struct {
	PartitionKey string
	RowKey       string
	Name         string
	Born         int32
}

type Importer struct {
	table *aztables.Client
}

func upsert(s Swimmer) (aztables.TransactionAction, error) {
	raw, err := json.Marshal(s)
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: raw}, err
}

// Club stores the members of one club; numbers are unique within it.
func (im *Importer) Club(ctx context.Context, club string, names map[string]string, born map[string]int32) error {
	batch := make([]aztables.TransactionAction, 0, len(names))
	for number, name := range names {
		a, err := upsert(Swimmer{PartitionKey: club, RowKey: number, Name: name, Born: born[number]})
		if err != nil {
			return err
		}
		batch = append(batch, a)
	}
	if len(batch) == 0 {
		return nil
	}
	for part := range slices.Chunk(batch, 100) {
		if _, err := im.table.SubmitTransaction(ctx, part, nil); err != nil {
			return fmt.Errorf("import %s: %w", club, err)
		}
	}
	return nil
}
