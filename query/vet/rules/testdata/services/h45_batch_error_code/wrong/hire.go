package hire

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrExists = errors.New("the id or the address is taken")

type Employee struct {
	PartitionKey string
	RowKey       string
	Name         string
	Email        string
}

func exists(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.ErrorCode == string(aztables.EntityAlreadyExists) // MISTAKE: a failed transaction has status 202 and no code, so this never holds
}

func add(e Employee) (aztables.TransactionAction, error) {
	raw, err := json.Marshal(e)
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: raw}, err
}

// Hire adds an employee and the index row of the address. The parts of the
// keys have been checked before.
func Hire(ctx context.Context, table *aztables.Client, dept, id, mailKey string, e Employee) error {
	primary, copied := e, e
	primary.PartitionKey, primary.RowKey = dept, "empid_"+id
	copied.PartitionKey, copied.RowKey = dept, "email_"+mailKey
	a, err := add(primary)
	if err != nil {
		return err
	}
	b, err := add(copied)
	if err != nil {
		return err
	}
	_, err = table.SubmitTransaction(ctx, []aztables.TransactionAction{a, b}, nil)
	if exists(err) {
		return ErrExists
	}
	return err
}
