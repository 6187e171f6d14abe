package audit

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Trail struct {
	table *aztables.Client
}

func Open(ctx context.Context, svc *aztables.ServiceClient) (*Trail, error) {
	c := svc.NewClient("audit")
	_, err := c.CreateTable(ctx, nil)
	var re *azcore.ResponseError
	if err != nil && !(errors.As(err, &re) && re.ErrorCode == string(aztables.TableAlreadyExists)) {
		return nil, err
	}
	return &Trail{table: c}, nil
}

// Record appends one action of a user.
func (t *Trail) Record(ctx context.Context, user, action string) error {
	var salt [8]byte
	if _, err := crand.Read(salt[:]); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"PartitionKey": user,
		"RowKey":       time.Now().UTC().Format("20060102T150405.000000000") + "_" + hex.EncodeToString(salt[:]),
		"Action":       action,
	})
	if err != nil {
		return err
	}
	_, err = t.table.AddEntity(ctx, body, nil)
	return err
}
