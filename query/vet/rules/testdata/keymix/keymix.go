package keymix

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type order struct {
	PartitionKey, RowKey string
	Total                int32
}

func put(ctx context.Context, table *aztables.Client, tenant, user, id string, total int32) error {
	body, err := json.Marshal(order{PartitionKey: tenant + "_" + user, RowKey: "order-" + id, Total: total})
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, body, nil)
	return err
}

func get(ctx context.Context, table *aztables.Client, tenant, user, id string) error {
	_, err := table.GetEntity(ctx, fmt.Sprintf("%s_%s", user, tenant), "order-"+id, nil) // want `this key is composed in another way.*keymix, error`
	return err
}

func remove(ctx context.Context, table *aztables.Client, tenant, user, id string) error {
	_, err := table.DeleteEntity(ctx, tenant+"_"+user, "order_"+id, nil) // want `this key is composed in another way`
	return err
}

func read(ctx context.Context, table *aztables.Client, tenant, user, id string) error {
	_, err := table.GetEntity(ctx, fmt.Sprintf("%s_%s", tenant, user), "order-"+id, nil)
	return err
}
