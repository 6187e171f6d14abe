package quota

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Quota struct {
	PartitionKey string
	RowKey       string
	Used         int32
	Limit        int32
}

var ErrOver = errors.New("quota is used up")

func changed(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed
}

func try(ctx context.Context, t *aztables.Client, tenant, name string, n int32) error {
	resp, err := t.GetEntity(ctx, tenant, name, nil)
	if err != nil {
		return err
	}
	var q Quota
	if err := json.Unmarshal(resp.Value, &q); err != nil {
		return err
	}
	if q.Used+n > q.Limit {
		return ErrOver
	}
	q.Used += n
	raw, err := json.Marshal(q)
	if err != nil {
		return err
	}
	opts := &aztables.UpdateEntityOptions{IfMatch: &resp.ETag, UpdateMode: aztables.UpdateModeMerge}
	_, err = t.UpdateEntity(ctx, raw, opts)
	if changed(err) {
		opts.IfMatch = nil
		_, err = t.UpdateEntity(ctx, raw, opts) // MISTAKE: the old sum is forced over the other writer's, instead of reading again
	}
	return err
}

// Use books n units of a tenant's quota.
func Use(ctx context.Context, t *aztables.Client, tenant, name string, n int32) error {
	return try(ctx, t, tenant, name, n)
}
