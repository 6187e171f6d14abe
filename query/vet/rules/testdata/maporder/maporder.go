package maporder

import (
	"context"
	"maps"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func submit(ctx context.Context, table *aztables.Client, bodies map[string][]byte) error {
	var actions []aztables.TransactionAction
	for _, body := range bodies { // want `the order of a map differs each time.*maporder, warning`
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
		if len(actions) == 100 {
			break
		}
	}
	_, err := table.SubmitTransaction(ctx, actions, nil)
	return err
}

func submitSorted(ctx context.Context, table *aztables.Client, partitions map[string][]aztables.TransactionAction) error {
	for _, key := range slices.Sorted(maps.Keys(partitions)) {
		if _, err := table.SubmitTransaction(ctx, partitions[key], nil); err != nil {
			return err
		}
	}
	return nil
}
