package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type record struct {
	PartitionKey string
	RowKey       string
	Actor        string
	Action       string
}

type Trail struct {
	table *aztables.Client
}

// Note writes down what an actor has done to an object.
func (t *Trail) Note(ctx context.Context, object, actor uuid.UUID, action string) error {
	if len(action) > 200 {
		return fmt.Errorf("action is too long: %d bytes", len(action))
	}
	body, err := json.Marshal(record{
		PartitionKey: object.String(),
		RowKey:       fmt.Sprintf("%019d-%s", math.MaxInt64-time.Now().UnixNano(), uuid.NewString()),
		Actor:        actor.String(),
		Action:       action,
	})
	if err != nil {
		return fmt.Errorf("encoding audit record: %w", err)
	}
	if _, err := t.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("writing audit record: %w", err)
	}
	return nil
}
