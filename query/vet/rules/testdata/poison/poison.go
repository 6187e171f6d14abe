package poison

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func work(ctx context.Context, queue *azqueue.QueueClient, do func(string) error) error {
	reply, err := queue.DequeueMessage(ctx, nil) // want `a message whose work always fails is delivered again.*poison, warning`
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		if err := do(*m.MessageText); err != nil {
			continue
		}
		if _, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
	}
	return nil
}
