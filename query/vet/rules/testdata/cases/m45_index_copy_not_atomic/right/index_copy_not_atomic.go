package staff

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Employee struct {
	Dept, ID, Email, Name string
}

type Staff struct{ t *aztables.Client }

func rows(e Employee) (byID, byMail []byte, err error) {
	byID, err = json.Marshal(map[string]string{
		"PartitionKey": e.Dept, "RowKey": "empid_" + e.ID, "Email": e.Email, "Name": e.Name,
	})
	if err != nil {
		return nil, nil, err
	}
	byMail, err = json.Marshal(map[string]string{
		"PartitionKey": e.Dept, "RowKey": "email_" + url.QueryEscape(strings.ToLower(e.Email)), "EmployeeId": e.ID, "Name": e.Name,
	})
	return byID, byMail, err
}

// Hire adds an employee, who can be found by id and by address.
func (s *Staff) Hire(ctx context.Context, e Employee) error {
	byID, byMail, err := rows(e)
	if err != nil {
		return err
	}
	_, err = s.t.SubmitTransaction(ctx, []aztables.TransactionAction{
		{ActionType: aztables.TransactionTypeAdd, Entity: byID},
		{ActionType: aztables.TransactionTypeAdd, Entity: byMail},
	}, nil)
	if err != nil {
		return fmt.Errorf("hire %s: %w", e.ID, err)
	}
	return nil
}
