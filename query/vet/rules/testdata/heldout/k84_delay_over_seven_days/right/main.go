package renewals

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type renewal struct {
	Contract uuid.UUID
	Asked    time.Time
}

type Planner struct {
	queue *azqueue.QueueClient
}

const delay = 6 * 24 * time.Hour

// Plan asks again for the renewal of a contract after some days.
func (p *Planner) Plan(ctx context.Context, contract uuid.UUID) error {
	text, err := json.Marshal(renewal{Contract: contract, Asked: time.Now().UTC()})
	if err != nil {
		return err
	}
	_, err = p.queue.EnqueueMessage(ctx, string(text), &azqueue.EnqueueMessageOptions{
		VisibilityTimeout: to.Ptr(int32(delay / time.Second)),
		TimeToLive:        to.Ptr(int32(-1)), // never expires
	})
	if err != nil {
		return fmt.Errorf("planning renewal of %s: %w", contract, err)
	}
	return nil
}
