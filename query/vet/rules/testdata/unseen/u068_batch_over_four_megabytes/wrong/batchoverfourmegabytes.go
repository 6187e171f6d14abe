package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Chunk struct {
	Index int
	Text  string
}

const (
	maxActions = 100
	maxBody    = 3 << 20
)

type Archive struct{ client *aztables.Client }

// Put stores a document that was cut into chunks of up to 30000 characters.
func (a Archive) Put(ctx context.Context, doc string, chunks []Chunk) error {
	var (
		acts []aztables.TransactionAction
		size int
	)
	submit := func() error {
		if len(acts) == 0 {
			return nil
		}
		_, err := a.client.SubmitTransaction(ctx, acts, nil)
		acts, size = nil, 0
		return err
	}
	for _, c := range chunks {
		b, err := json.Marshal(map[string]any{"PartitionKey": doc, "RowKey": fmt.Sprintf("%06d", c.Index), "Text": c.Text})
		if err != nil {
			return err
		}
		if len(acts) == maxActions { // MISTAKE: a hundred rows of this size exceed 4 MiB
			if err := submit(); err != nil {
				return fmt.Errorf("document %s: %w", doc, err)
			}
		}
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: b})
		size += len(b)
	}
	return submit()
}
