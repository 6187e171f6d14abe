package deletefirst

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type consumer struct {
	queue  *azqueue.QueueClient
	handle func(context.Context, string) error
}

func (c *consumer) remove(ctx context.Context, m *azqueue.DequeuedMessage) error {
	_, err := c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func (c *consumer) deferred(ctx context.Context, m *azqueue.DequeuedMessage) error {
	defer c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil) // want `a deferred call deletes the message even if the work fails`
	return c.handle(ctx, *m.MessageText)
}

func (c *consumer) helped(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if err := c.remove(ctx, m); err != nil { // want `the message is deleted before the work is done`
		return err
	}
	return c.handle(ctx, *m.MessageText)
}

func (c *consumer) after(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if err := c.handle(ctx, *m.MessageText); err != nil || *m.DequeueCount > 5 {
		return err
	}
	return c.remove(ctx, m)
}

func (c *consumer) acknowledged(m *azqueue.DequeuedMessage) (wrong, correct func(context.Context, error) error) {
	wrong = func(ctx context.Context, _ error) error {
		_, err := c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil) // want `deletes the message even if that is an error`
		return err
	}
	correct = func(ctx context.Context, result error) error {
		if result != nil {
			return nil
		}
		_, err := c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
		return err
	}
	return wrong, correct
}
