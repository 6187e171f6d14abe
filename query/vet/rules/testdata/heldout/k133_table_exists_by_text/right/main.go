package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

const tableName = "pushTokens"

type Tokens struct {
	table *aztables.Client
}

func exists(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.ErrorCode == string(aztables.TableAlreadyExists)
}

func NewTokens(ctx context.Context, svc *aztables.ServiceClient) (*Tokens, error) {
	table := svc.NewClient(tableName)
	_, err := table.CreateTable(ctx, nil)
	if err != nil && !exists(err) {
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
