package quotedkey

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func set(ctx context.Context, table *aztables.Client, name string) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: "names", RowKey: name}, // want `stores a quote in the key of an EDMEntity doubled.*quotedkey, error`
	})
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, body, nil)
	return err
}

func setEscaped(ctx context.Context, table *aztables.Client, name string) error {
	body, err := json.Marshal(aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: "names", RowKey: url.QueryEscape(name)}})
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, body, nil)
	return err
}

func get(ctx context.Context, table *aztables.Client, name string) ([]byte, error) {
	reply, err := table.GetEntity(ctx, "names", name, nil)
	return reply.Value, err
}
