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

func (c *consumer) inDefer(ctx context.Context, m *azqueue.DequeuedMessage) error {
	defer func() {
		if err := c.remove(ctx, m); err != nil { // want `a deferred call deletes the message even if the work fails`
			log.Print(err)
		}
	}()
	return c.handle(ctx, *m.MessageText)
}

func (c *consumer) inDeferIfDone(ctx context.Context, m *azqueue.DequeuedMessage) (err error) {
	defer func() {
		if err == nil {
			err = c.remove(ctx, m)
		}
	}()
	return c.handle(ctx, *m.MessageText)
}
