package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Line struct {
	Number int
	Text   string
}

type Importer struct {
	Table *aztables.Client
}

func (im *Importer) row(doc string, l Line) ([]byte, error) {
	return json.Marshal(map[string]any{
		"PartitionKey": doc,
		"RowKey":       fmt.Sprintf("%08d", l.Number),
		"Text":         l.Text,
	})
}

// Import writes all lines of a document; the line numbers are distinct and a line is at most 1 KB.
func (im *Importer) Import(ctx context.Context, doc string, lines []Line) error {
	for part := range slices.Chunk(lines, 100) {
		batch := make([]aztables.TransactionAction, 0, len(part))
		for _, l := range part {
			body, err := im.row(doc, l)
			if err != nil {
				return err
			}
			batch = append(batch, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
		}
		if _, err := im.Table.SubmitTransaction(ctx, batch, nil); err != nil {
			return fmt.Errorf("lines from %d: %w", part[0].Number, err)
		}
	}
	return nil
}
