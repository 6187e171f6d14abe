package keymix

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func norm(mail string) string { return strings.ToLower(mail) }

func subscribe(ctx context.Context, table *aztables.Client, mail string) error {
	body, err := json.Marshal(map[string]string{"PartitionKey": "list", "RowKey": url.QueryEscape(norm(mail))})
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, body, nil)
	return err
}

func unsubscribe(ctx context.Context, table *aztables.Client, mail string) error {
	_, err := table.DeleteEntity(ctx, "list", url.QueryEscape(mail), nil) // want `this key is composed in another way than the one that is written`
	return err
}
