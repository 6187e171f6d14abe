package keytext

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type storedRow struct {
	PartitionKey, RowKey string
}

// rowRef has the fields of an entity, but it is only logged.
type rowRef struct {
	PartitionKey, RowKey string
}

func store(ctx context.Context, client *aztables.Client, n int) error {
	body, err := json.Marshal(storedRow{PartitionKey: "orders", RowKey: fmt.Sprintf("%d", n)}) // want `not in numeric order`
	if err != nil {
		return err
	}
	_, err = client.AddEntity(ctx, body, nil)
	return err
}

func storeThroughHelper(ctx context.Context, client *aztables.Client, n int) error {
	return put(ctx, client, &helperRow{PartitionKey: "orders", RowKey: fmt.Sprintf("%d", n)}) // want `not in numeric order`
}

type helperRow struct {
	PartitionKey, RowKey string
}

func put(ctx context.Context, client *aztables.Client, row any) error {
	body, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = client.UpsertEntity(ctx, body, nil)
	return err
}

func logged(n int) ([]byte, error) {
	return json.Marshal(rowRef{PartitionKey: "orders", RowKey: fmt.Sprintf("%d", n)})
}
