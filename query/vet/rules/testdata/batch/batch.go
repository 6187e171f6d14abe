package batch

import (
	"context"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func marshal(aztables.Entity) []byte { return nil }

func Unbounded(ctx context.Context, table *aztables.Client, rows [][]byte) error {
	var actions []aztables.TransactionAction
	for _, row := range rows {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: row})
	}
	_, err := table.SubmitTransaction(ctx, actions, nil) // want `the loop adds operations without a limit.*batch, error`
	return err
}

func tooMany(ctx context.Context, table *aztables.Client, row []byte) error {
	var actions []aztables.TransactionAction
	for range 150 {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: row})
	}
	_, err := table.SubmitTransaction(ctx, actions, nil) // want `the loop adds 150 operations`
	return err
}

func spans(ctx context.Context, table *aztables.Client) error {
	var actions []aztables.TransactionAction
	for i := 0; i < 10; i++ {
		row := aztables.Entity{PartitionKey: fmt.Sprintf("p%03d", i), RowKey: "r"}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: marshal(row)})
	}
	_, err := table.SubmitTransaction(ctx, actions, nil) // want `the partition key changes with each round`
	return err
}

func Rows(ctx context.Context, table *aztables.Client, page aztables.ListEntitiesResponse) error {
	actions := make([]aztables.TransactionAction, 0, len(page.Entities))
	for _, row := range page.Entities {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeDelete, Entity: row})
	}
	_, err := table.SubmitTransaction(ctx, actions, nil) // want `the loop adds operations without a limit`
	return err
}

func Fine(ctx context.Context, table *aztables.Client, rows [][]byte) error {
	for chunk := range slices.Chunk(rows, 100) {
		var actions []aztables.TransactionAction
		for _, row := range chunk {
			actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: row})
		}
		if _, err := table.SubmitTransaction(ctx, actions, nil); err != nil {
			return err
		}
	}
	var actions []aztables.TransactionAction
	for _, row := range rows {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: row})
		if len(actions) == 100 {
			if _, err := table.SubmitTransaction(ctx, actions, nil); err != nil {
				return err
			}
			actions = nil
		}
	}
	_, err := table.SubmitTransaction(ctx, actions, nil)
	return err
}

func part(ctx context.Context, table *aztables.Client, rows [][]byte) error { // its callers divide
	var actions []aztables.TransactionAction
	for i, row := range rows {
		entity := aztables.Entity{PartitionKey: "p", RowKey: fmt.Sprintf("%03d", i)}
		actions = append(actions, aztables.TransactionAction{Entity: append(row, marshal(entity)...)})
	}
	_, err := table.SubmitTransaction(ctx, actions, nil)
	return err
}
