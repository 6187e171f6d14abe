package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type lockRow struct {
	PartitionKey, RowKey, Holder string
	Until                        aztables.EDMDateTime
}

// Locks is a small lock service on one table.
type Locks struct{ T *aztables.Client }

func (l Locks) breakIfExpired(ctx context.Context, name string) error {
	r, err := l.T.GetEntity(ctx, "lock", name, nil)
	if err != nil {
		return err
	}
	var row lockRow
	if err := json.Unmarshal(r.Value, &row); err != nil {
		return err
	}
	if time.Now().Before(time.Time(row.Until)) {
		return fmt.Errorf("lock %s is held by %s", name, row.Holder)
	}
	_, err = l.T.DeleteEntity(ctx, row.PartitionKey, row.RowKey, &aztables.DeleteEntityOptions{IfMatch: &r.ETag})
	return err
}

func (l Locks) Acquire(ctx context.Context, name, me string, ttl time.Duration) error {
	e := aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: "lock", RowKey: name},
		Properties: map[string]any{
			"Holder": me,
			"Until":  aztables.EDMDateTime(time.Now().UTC().Add(ttl)),
		},
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = l.T.AddEntity(ctx, data, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.ErrorCode == string(aztables.EntityAlreadyExists) {
		if err := l.breakIfExpired(ctx, name); err != nil {
			return err
		}
		_, err = l.T.AddEntity(ctx, data, nil)
	}
	return err
}
