package spin

import (
	"context"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Consumer struct {
	Queue *azqueue.QueueClient
	Do    func(context.Context, string) error
	Dead  func(context.Context, string) error
	Idle  time.Duration
}

func (c *Consumer) rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(c.Idle):
	}
}

// Consume runs until the context ends.
func (c *Consumer) Consume(ctx context.Context) {
	for ctx.Err() == nil {
		r, err := c.Queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(120))})
		if err != nil {
			log.Println("dequeue:", err)
			c.rest(ctx)
			continue
		}
		if len(r.Messages) == 0 {
			c.rest(ctx)
			continue
		}
		m := r.Messages[0]
		f := c.Do
		if *m.DequeueCount > 5 {
			f = c.Dead
		}
		if err := f(ctx, *m.MessageText); err != nil {
			log.Println("work:", err)
			continue
		}
		if _, err := c.Queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			log.Println("delete:", err)
		}
	}
}
