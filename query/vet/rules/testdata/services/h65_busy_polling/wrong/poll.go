package poll

import (
	"context"
	"fmt"

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
	for ctx.Err() == nil { // MISTAKE: an empty queue is asked without a pause, and each empty answer is paid for
		resp, err := p.Queue.DequeueMessages(ctx, &take)
		if err != nil {
			return fmt.Errorf("dequeue: %w", err)
		}
		for _, m := range resp.Messages {
			if err := p.Handle(ctx, p.Queue, m); err != nil {
				return fmt.Errorf("message %s: %w", *m.MessageID, err)
			}
		}
	}
	return ctx.Err()
}
