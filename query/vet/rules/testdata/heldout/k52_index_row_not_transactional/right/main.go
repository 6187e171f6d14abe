package employees

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type employee struct {
	PartitionKey string
	RowKey       string
	Name         string
	Mail         string
}

type Employees struct{ table *aztables.Client }

// Hire adds an employee who can be found by id and by mail address.
func (e *Employees) Hire(ctx context.Context, dept, id uuid.UUID, name, mail string) error {
	mail = strings.ToLower(mail)
	byID := employee{PartitionKey: dept.String(), RowKey: "id_" + id.String(), Name: name, Mail: mail}
	byMail := byID
	byMail.RowKey = "mail_" + hex.EncodeToString([]byte(mail))
	var actions []aztables.TransactionAction
	for _, row := range []employee{byID, byMail} {
		body, err := json.Marshal(row)
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
	}
	if _, err := e.table.SubmitTransaction(ctx, actions, nil); err != nil {
		return fmt.Errorf("hiring %s: %w", id, err)
	}
	return nil
}
