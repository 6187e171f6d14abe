package mailer

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Sender func(ctx context.Context, text string) error

type Worker struct {
	queue *azqueue.QueueClient
	send  Sender
	dead  Sender
}

func (w *Worker) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		resp, err := w.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages:  to.Ptr(int32(16)),
			VisibilityTimeout: to.Ptr(int32(300)),
		})
		if err != nil {
			return fmt.Errorf("dequeue: %w", err)
		}
		if len(resp.Messages) == 0 {
			continue // MISTAKE: an empty queue is asked again without any pause
		}
		for _, m := range resp.Messages {
			do := w.send
			if *m.DequeueCount > 5 {
				do = w.dead
			}
			if err := do(ctx, *m.MessageText); err != nil {
				log.Printf("message %s: %v", *m.MessageID, err)
				continue
			}
			if _, err := w.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
				log.Printf("delete %s: %v", *m.MessageID, err)
			}
		}
	}
	return ctx.Err()
}
