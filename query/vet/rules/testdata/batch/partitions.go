package batch

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type transfer struct{ From, To, ID string }

func entry(partition, row string) ([]byte, error) {
	return json.Marshal(map[string]string{"PartitionKey": partition, "RowKey": row})
}

func post(ctx context.Context, table *aztables.Client, m transfer) error {
	out, err := entry(m.From, m.ID)
	if err != nil {
		return err
	}
	in, err := entry(m.To, m.ID)
	if err != nil {
		return err
	}
	second, err := entry(m.From, "sum")
	if err != nil {
		return err
	}
	_, err = table.SubmitTransaction(ctx, []aztables.TransactionAction{
		{ActionType: aztables.TransactionTypeAdd, Entity: out},
		{ActionType: aztables.TransactionTypeAdd, Entity: second},
		{ActionType: aztables.TransactionTypeAdd, Entity: in}, // want `this row is of another partition than the first one`
	}, nil)
	return err
}

func action(m transfer) (aztables.TransactionAction, error) {
	body, err := json.Marshal(map[string]string{"PartitionKey": m.From, "RowKey": m.ID})
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body}, err
}

func flush(ctx context.Context, table *aztables.Client, all []transfer) error {
	var actions []aztables.TransactionAction
	of := map[string][]aztables.TransactionAction{}
	for _, m := range all {
		a, err := action(m)
		if err != nil {
			return err
		}
		actions = append(actions, a)
		of[m.From] = append(of[m.From], a)
	}
	for part := range slices.Chunk(actions, 100) {
		if _, err := table.SubmitTransaction(ctx, part, nil); err != nil { // want `the partition key changes with each round of the loop that makes`
			return err
		}
	}
	for _, actions := range of {
		for part := range slices.Chunk(actions, 100) {
			if _, err := table.SubmitTransaction(ctx, part, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func hire(ctx context.Context, table *aztables.Client, m transfer) error {
	byID, err := entry(m.From, m.ID)
	if err != nil {
		return err
	}
	byMail, err := entry(m.From, "mail_"+m.ID)
	if err != nil {
		return err
	}
	if _, err := table.AddEntity(ctx, byID, nil); err != nil {
		return err
	}
	_, err = table.AddEntity(ctx, byMail, nil) // want `the row that was written before remains without this one`
	return err
}
