package attendance

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

const layout = "2006-01-02T15:04:05Z"

type clocking struct {
	PartitionKey string
	RowKey       string
	Kind         string
	At           string
	AtType       string `json:"At@odata.type"`
}

type Terminal struct {
	table *aztables.Client
}

// Clock books that an employee comes or goes.
func (t *Terminal) Clock(ctx context.Context, employee uuid.UUID, in bool) error {
	kind := "out"
	if in {
		kind = "in"
	}
	at := time.Now().UTC().Format(layout)
	body, err := json.Marshal(clocking{
		PartitionKey: employee.String(),
		RowKey:       uuid.NewString(),
		Kind:         kind,
		At:           at,
		AtType:       "Edm.DateTime",
	})
	if err != nil {
		return err
	}
	if _, err := t.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("clocking of %s: %w", employee, err)
	}
	return nil
}
