package chunks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

const (
	maxText  = 30_000 // UTF-16 units of one passage, 60 KB in the table
	perBatch = 20
)

type passage struct {
	PartitionKey string
	RowKey       string
	Text         string
}

type Passages struct {
	table *aztables.Client
}

// Store saves the passages of a document in their order.
func (p *Passages) Store(ctx context.Context, document uuid.UUID, texts []string) error {
	var actions []aztables.TransactionAction
	for i, text := range texts {
		if len(utf16.Encode([]rune(text))) > maxText {
			return fmt.Errorf("passage %d is too long", i)
		}
		body, err := json.Marshal(passage{
			PartitionKey: document.String(),
			RowKey:       fmt.Sprintf("%06d", i),
			Text:         text,
		})
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
	}
	for batch := range slices.Chunk(actions, perBatch) {
		if _, err := p.table.SubmitTransaction(ctx, batch, nil); err != nil {
			return fmt.Errorf("storing passages of %s: %w", document, err)
		}
	}
	return nil
}
