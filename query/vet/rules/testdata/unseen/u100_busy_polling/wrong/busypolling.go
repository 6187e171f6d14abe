package wrong

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Handler interface {
	Handle(ctx context.Context, text string) error
}

type Poller struct {
	queue *azqueue.QueueClient
	h     Handler
}

func (p *Poller) batch(ctx context.Context) (int, error) {
	resp, err := p.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(16)),
		VisibilityTimeout: to.Ptr(int32(600)),
	})
	if err != nil {
		return 0, err
	}
	for _, m := range resp.Messages {
		if err := p.h.Handle(ctx, *m.MessageText); err != nil && *m.DequeueCount < 5 {
			log.Printf("message %s, delivery %d: %v", *m.MessageID, *m.DequeueCount, err)
			continue
		}
		if _, err := p.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return 0, err
		}
	}
	return len(resp.Messages), nil
}

// Serve handles messages until ctx ends.
func (p *Poller) Serve(ctx context.Context) error {
	for {
		n, err := p.batch(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			default: // MISTAKE: asks the empty queue again without any pause
			}
		}
	}
}
