package lostupdate

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func reap(ctx context.Context, table *aztables.Client) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	var row struct{ Open bool }
	if err := json.Unmarshal(reply.Value, &row); err != nil {
		return err
	}
	if row.Open {
		return nil
	}
	_, err = table.DeleteEntity(ctx, "p", "r", nil) // want `the decision to delete this row depends on what was read`
	return err
}

func result(ctx context.Context, table *aztables.Client) error {
	var actions []aztables.TransactionAction
	for _, name := range []string{"home", "guest"} {
		reply, err := table.GetEntity(ctx, "p", name, nil)
		if err != nil {
			return err
		}
		var row map[string]any
		if err := json.Unmarshal(reply.Value, &row); err != nil {
			return err
		}
		row["Score"] = "3"
		body, err := json.Marshal(row)
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeUpdateReplace, Entity: body}) // want `set IfMatch to the ETag of the read`
	}
	_, err := table.SubmitTransaction(ctx, actions, nil)
	return err
}
