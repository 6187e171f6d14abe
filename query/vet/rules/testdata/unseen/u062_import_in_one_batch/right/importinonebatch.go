package right

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Station struct {
	Line, Code, Name string
}

type importer struct {
	client *aztables.Client
	batch  int
}

func newImporter(c *aztables.Client) *importer {
	return &importer{client: c, batch: 100}
}

// importLine writes all stations of one line.
func (im *importer) importLine(ctx context.Context, line string, stations []Station) error {
	for part := range slices.Chunk(stations, im.batch) {
		actions := make([]aztables.TransactionAction, len(part))
		for i, st := range part {
			raw, err := json.Marshal(map[string]string{
				"PartitionKey": line,
				"RowKey":       st.Code,
				"Name":         st.Name,
			})
			if err != nil {
				return err
			}
			actions[i] = aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: raw}
		}
		if _, err := im.client.SubmitTransaction(ctx, actions, nil); err != nil {
			return fmt.Errorf("line %s: %w", line, err)
		}
		log.Printf("%s: %d stations", line, len(part))
	}
	return nil
}
