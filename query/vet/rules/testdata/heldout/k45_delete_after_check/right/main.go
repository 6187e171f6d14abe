package locks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Locks struct {
	table *aztables.Client
}

// Expire removes the lock of a resource if its time is over.
func (l *Locks) Expire(ctx context.Context, tenant, resource uuid.UUID, now time.Time) (bool, error) {
	got, err := l.table.GetEntity(ctx, tenant.String(), resource.String(), nil)
	if err != nil {
		return false, fmt.Errorf("reading lock of %s: %w", resource, err)
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(got.Value, &e); err != nil {
		return false, fmt.Errorf("decoding lock: %w", err)
	}
	until, ok := e.Properties["Until"].(aztables.EDMDateTime)
	if !ok {
		return false, fmt.Errorf("lock of %s has no end", resource)
	}
	if now.Before(time.Time(until)) {
		return false, nil
	}
	_, err = l.table.DeleteEntity(ctx, tenant.String(), resource.String(), &aztables.DeleteEntityOptions{IfMatch: &got.ETag})
	if err != nil {
		return false, fmt.Errorf("removing lock of %s: %w", resource, err)
	}
	return true, nil
}
