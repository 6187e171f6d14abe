package deletefirst

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func (c *consumer) onlyLogged(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if err := c.handle(ctx, *m.MessageText); err != nil {
		log.Print(err)
	}
	return c.remove(ctx, m) // want `the message is deleted even if the work failed`
}

func (c *consumer) logged(ctx context.Context, m *azqueue.DequeuedMessage) error {
	err := c.handle(ctx, *m.MessageText)
	if err != nil {
		log.Print(err)
		return nil
	}
	return c.remove(ctx, m)
}
