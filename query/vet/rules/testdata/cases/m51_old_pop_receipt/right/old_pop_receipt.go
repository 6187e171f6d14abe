package exports

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Export struct {
	q     *azqueue.QueueClient
	steps []func(context.Context, string) error
	dead  func(context.Context, string) error
}

// Process runs all steps and makes the message stay hidden between them.
func (e *Export) Process(ctx context.Context, m *azqueue.DequeuedMessage) error {
	receipt := *m.PopReceipt
	if *m.DequeueCount > 5 {
		if err := e.dead(ctx, *m.MessageText); err != nil {
			return err
		}
		_, err := e.q.DeleteMessage(ctx, *m.MessageID, receipt, nil)
		return err
	}
	for i, step := range e.steps {
		if err := step(ctx, *m.MessageText); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		up, err := e.q.UpdateMessage(ctx, *m.MessageID, receipt, *m.MessageText, &azqueue.UpdateMessageOptions{
			VisibilityTimeout: to.Ptr(int32(120)),
		})
		if err != nil {
			return fmt.Errorf("extend: %w", err)
		}
		receipt = *up.PopReceipt
	}
	if _, err := e.q.DeleteMessage(ctx, *m.MessageID, receipt, nil); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}
