package bench

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// The jobs, written by hand with aztables.

func handRange[T any](ctx context.Context, table *aztables.Client, filter string) (rows int, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return rows, err
		}
		for _, raw := range page.Entities {
			var e T
			if err := json.Unmarshal(raw, &e); err != nil {
				return rows, err
			}
			rows++
		}
	}
	return rows, nil
}

func handGet[T any](ctx context.Context, table *aztables.Client, pk, rk string) (T, error) {
	var e T
	resp, err := table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(resp.Value, &e)
}

func handBatch[T any](ctx context.Context, table *aztables.Client, rows []T) error {
	actions := make([]aztables.TransactionAction, 0, len(rows))
	for i := range rows {
		raw, err := json.Marshal(rows[i])
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: raw})
	}
	_, err := table.SubmitTransaction(ctx, actions, nil)
	return err
}
