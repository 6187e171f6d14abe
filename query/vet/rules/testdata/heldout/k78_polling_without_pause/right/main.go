package poller

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Handler interface {
	Handle(ctx context.Context, text string) error
	GiveUp(ctx context.Context, text string) error
}

type Poller struct {
	Queue   *azqueue.QueueClient
	Handler Handler
}

// Run blocks until the context is cancelled or the queue fails.
func (p *Poller) Run(ctx context.Context) error {
	idle := time.Second
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		resp, err := p.Queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(180))})
		if err != nil {
			return fmt.Errorf("dequeue: %w", err)
		}
		if len(resp.Messages) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(idle):
			}
			idle = min(2*idle, time.Minute)
			continue
		}
		idle = time.Second
		m := resp.Messages[0]
		handle := p.Handler.Handle
		if *m.DequeueCount > 5 {
			handle = p.Handler.GiveUp
		}
		if err := handle(ctx, *m.MessageText); err != nil {
			return fmt.Errorf("message %s: %w", *m.MessageID, err)
		}
		if _, err := p.Queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return fmt.Errorf("deleting %s: %w", *m.MessageID, err)
		}
	}
}
