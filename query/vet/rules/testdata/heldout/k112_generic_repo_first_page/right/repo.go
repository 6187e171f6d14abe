package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Repo reads rows of type T whose partitions are named by UUIDs.
type Repo[T any] struct {
	table *aztables.Client
}

func NewRepo[T any](svc *aztables.ServiceClient, table string) Repo[T] {
	return Repo[T]{table: svc.NewClient(table)}
}

func decode[T any](rows [][]byte) ([]T, error) {
	out := make([]T, len(rows))
	for i, raw := range rows {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return out, nil
}

// All returns all rows of a partition.
func (r Repo[T]) All(ctx context.Context, partition uuid.UUID) ([]T, error) {
	filter := "PartitionKey eq '" + partition.String() + "'"
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var rows [][]byte
	for pager.More() {
		resp, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("partition %s: %w", partition, err)
		}
		rows = append(rows, resp.Entities...)
	}
	return decode[T](rows)
}
