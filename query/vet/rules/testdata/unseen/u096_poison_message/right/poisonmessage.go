package right

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Consumer struct {
	queue  *azqueue.QueueClient
	poison *azqueue.QueueClient
	apply  func(ctx context.Context, text string) error
}

const maxDeliveries = 5

func (c *Consumer) park(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if _, err := c.poison.EnqueueMessage(ctx, *m.MessageText, &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](-1)}); err != nil {
		return fmt.Errorf("park %s: %w", *m.MessageID, err)
	}
	_, err := c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func (c *Consumer) Poll(ctx context.Context) (int, error) {
	resp, err := c.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr[int32](8),
		VisibilityTimeout: to.Ptr[int32](90),
	})
	if err != nil {
		return 0, err
	}
	for _, m := range resp.Messages {
		if err := c.apply(ctx, *m.MessageText); err != nil {
			slog.Error("apply", "id", *m.MessageID, "deliveries", *m.DequeueCount, "err", err)
			if *m.DequeueCount >= maxDeliveries {
				if err := c.park(ctx, m); err != nil {
					return 0, err
				}
			}
			continue
		}
		if _, err := c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return 0, err
		}
	}
	return len(resp.Messages), nil
}
