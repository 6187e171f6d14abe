package untyped

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type tagged struct {
	PartitionKey string
	RowKey       string   `json:"rowKey"` // want `names are case-sensitive, so this is not the RowKey`
	Labels       []string // want `Labels is no value but an array or an object`
}

func encodeRow(partition, row string, sizes map[string]int32) ([]byte, error) {
	return json.Marshal(map[string]any{
		"PartitionKey":    partition,
		"RowKey":          row,
		"Sizes":           sizes, // want `Sizes is no value but an array or an object`
		"unit-price":      "5",   // want `the service refuses this name of a property`
		"Size@odata.type": "Edm.Int64",
	})
}

func refusedRows(ctx context.Context, table *aztables.Client, t tagged) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err = table.AddEntity(ctx, body, nil); err != nil {
		return err
	}
	other, err := encodeRow("p", "r", nil)
	if err != nil {
		return err
	}
	_, err = table.AddEntity(ctx, other, nil)
	return err
}
