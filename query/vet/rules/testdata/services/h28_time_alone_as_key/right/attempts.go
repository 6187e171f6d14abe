package attempts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Attempt struct {
	PartitionKey string
	RowKey       string
	SourceIP     string
	Successful   bool
}

func newAttempt(user, ip string, ok bool, at time.Time) Attempt {
	return Attempt{
		PartitionKey: user,
		RowKey:       fmt.Sprintf("%014d_%s", at.UnixMilli(), uuid.NewString()),
		SourceIP:     ip,
		Successful:   ok,
	}
}

type Audit struct {
	table *aztables.Client
	now   func() time.Time
}

func NewAudit(t *aztables.Client) *Audit { return &Audit{table: t, now: time.Now} }

// Record stores a login attempt of a user id.
func (a *Audit) Record(ctx context.Context, user, ip string, ok bool) error {
	raw, err := json.Marshal(newAttempt(user, ip, ok, a.now()))
	if err != nil {
		return err
	}
	_, err = a.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{
		UpdateMode: aztables.UpdateModeReplace,
	})
	if err != nil {
		return fmt.Errorf("record attempt of %s: %w", user, err)
	}
	return nil
}
