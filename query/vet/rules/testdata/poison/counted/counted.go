package counted

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func work(ctx context.Context, queue, failed *azqueue.QueueClient, do func(string) error) error {
	reply, err := queue.DequeueMessage(ctx, nil)
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		if *m.DequeueCount > 5 {
			if _, err := failed.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
				return err
			}
		} else if err := do(*m.MessageText); err != nil {
			continue
		}
		if _, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
	}
	return nil
}
