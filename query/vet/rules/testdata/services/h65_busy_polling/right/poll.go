package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// Handler handles a message and deletes it or moves it away itself.
type Handler func(ctx context.Context, q *azqueue.QueueClient, m *azqueue.DequeuedMessage) error

type Poller struct {
	Queue  *azqueue.QueueClient
	Handle Handler
}

var take = azqueue.DequeueMessagesOptions{
	NumberOfMessages:  to.Ptr(int32(16)),
	VisibilityTimeout: to.Ptr(int32(120)),
}

// Run polls the queue until ctx ends or an error comes.
func (p *Poller) Run(ctx context.Context) error {
	wait := time.Second
	for ctx.Err() == nil {
		resp, err := p.Queue.DequeueMessages(ctx, &take)
		if err != nil {
			return fmt.Errorf("dequeue: %w", err)
		}
		if len(resp.Messages) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
			wait = min(2*wait, time.Minute)
			continue
		}
		wait = time.Second
		for _, m := range resp.Messages {
			if err := p.Handle(ctx, p.Queue, m); err != nil {
				return fmt.Errorf("message %s: %w", *m.MessageID, err)
			}
		}
	}
	return ctx.Err()
}
