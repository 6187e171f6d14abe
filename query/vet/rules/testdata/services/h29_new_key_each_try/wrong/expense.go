package expense

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Expense struct {
	PartitionKey string
	RowKey       string
	Cents        int32
}

func temporary(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode >= http.StatusInternalServerError
}

func retry(ctx context.Context, tries int, fn func() error) error {
	wait := time.Second
	for {
		err := fn()
		tries--
		if err == nil || tries <= 0 || !temporary(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
}

// Add books an expense of an employee.
func Add(ctx context.Context, table *aztables.Client, employee string, cents int32) error {
	return retry(ctx, 3, func() error {
		e := Expense{PartitionKey: employee, RowKey: uuid.NewString(), Cents: cents} // MISTAKE: a try whose answer was lost has written its row, and the next try adds another
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = table.AddEntity(ctx, raw, nil)
		return err
	})
}
