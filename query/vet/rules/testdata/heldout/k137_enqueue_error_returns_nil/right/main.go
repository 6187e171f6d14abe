package starter

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type Start struct {
	Tool   string
	CallID uuid.UUID
	Retry  int
}

type Starter struct {
	queue *azqueue.QueueClient
}

// Begin starts a tool call and returns the id under which it can be followed.
func (s *Starter) Begin(ctx context.Context, tool string) (uuid.UUID, error) {
	call := Start{Tool: tool, CallID: uuid.New()}
	return call.CallID, s.put(ctx, call, 0)
}

// Again starts a call once more after some seconds.
func (s *Starter) Again(ctx context.Context, call Start) error {
	call.Retry++
	if call.Retry > 8 {
		return fmt.Errorf("call %s was tried too often", call.CallID)
	}
	return s.put(ctx, call, int32(10*call.Retry))
}

func (s *Starter) put(ctx context.Context, call Start, delay int32) error {
	text, err := json.Marshal(call)
	if err != nil {
		return fmt.Errorf("encoding call: %w", err)
	}
	_, err = s.queue.EnqueueMessage(ctx, string(text), &azqueue.EnqueueMessageOptions{VisibilityTimeout: to.Ptr(delay)})
	if err != nil {
		return fmt.Errorf("starting call %s: %w", call.CallID, err)
	}
	return nil
}
