package batch

import (
	"context"
	"encoding/json"

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
