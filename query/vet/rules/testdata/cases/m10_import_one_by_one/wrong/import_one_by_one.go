package importer

import (
	"context"
	"encoding/json"
	"fmt"

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
	for _, l := range lines {
		body, err := im.row(doc, l)
		if err != nil {
			return err
		}
		if _, err := im.Table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil { // MISTAKE: one request per line of the same partition, a batch would take 100
			return fmt.Errorf("line %d: %w", l.Number, err)
		}
	}
	return nil
}
