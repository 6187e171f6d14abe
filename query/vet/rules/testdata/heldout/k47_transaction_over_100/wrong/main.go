package importer

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Import reads article number and title from CSV into the partition of a shop.
func Import(ctx context.Context, table *aztables.Client, shop uuid.UUID, r io.Reader) (int, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = 2
	records, err := in.ReadAll()
	if err != nil {
		return 0, fmt.Errorf("reading csv: %w", err)
	}
	articles := make(map[uuid.UUID]string, len(records))
	for _, rec := range records {
		id, err := uuid.Parse(rec[0])
		if err != nil {
			return 0, fmt.Errorf("article number: %w", err)
		}
		articles[id] = rec[1]
	}
	actions := make([]aztables.TransactionAction, 0, len(articles))
	for id, title := range articles {
		body, err := json.Marshal(map[string]string{"PartitionKey": shop.String(), "RowKey": id.String(), "Title": title})
		if err != nil {
			return 0, err
		}
		actions = append(actions, aztables.TransactionAction{
			ActionType: aztables.TransactionTypeInsertReplace,
			Entity:     body,
		})
	}
	if _, err := table.SubmitTransaction(ctx, actions, nil); err != nil { // MISTAKE: All rows go into one transaction, which the service rejects above 100 operations.
		return 0, fmt.Errorf("importing: %w", err)
	}
	return len(actions), nil
}
