package billing

import (
	"context"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Processor struct {
	in   *azqueue.QueueClient
	bad  *azqueue.QueueClient
	bill func(ctx context.Context, order string) error
}

// Drain works until the queue is empty.
func (p *Processor) Drain(ctx context.Context) error {
	for {
		got, err := p.in.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages:  to.Ptr[int32](8),
			VisibilityTimeout: to.Ptr[int32](240),
		})
		if err != nil {
			return err
		}
		if len(got.Messages) == 0 {
			return nil
		}
		for _, m := range got.Messages {
			if err := p.bill(ctx, *m.MessageText); err != nil {
				slog.Error("billing failed", "id", *m.MessageID, "err", err)
				if *m.DequeueCount < 5 {
					continue
				}
				if _, err := p.bad.EnqueueMessage(ctx, *m.MessageText, &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](-1)}); err != nil {
					return err
				}
			}
			if _, err := p.in.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
				return err
			}
		}
	}
}
