package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"
)

type Bus interface {
	Emit(ctx context.Context, kind string, data any) error
}

type bus struct {
	q *azqueue.QueueClient
}

func ensure(ctx context.Context, q *azqueue.QueueClient) error {
	_, err := q.Create(ctx, nil)
	if queueerror.HasCode(err, queueerror.QueueAlreadyExists) {
		return nil
	}
	return err
}

func Open(ctx context.Context, svc *azqueue.ServiceClient) (Bus, error) {
	b := &bus{q: svc.NewQueueClient("events")}
	if err := ensure(ctx, b.q); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *bus) Emit(ctx context.Context, kind string, data any) error {
	text, err := json.Marshal(map[string]any{"kind": kind, "data": data})
	if err != nil {
		return err
	}
	if _, err := b.q.EnqueueMessage(ctx, string(text), nil); err != nil {
		return fmt.Errorf("emit %s: %w", kind, err)
	}
	return nil
}
