package right

import (
	"context"
	"encoding/base64"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Worker struct {
	in     *azqueue.QueueClient
	handle func(ctx context.Context, body []byte) error
}

func (w *Worker) remove(ctx context.Context, m *azqueue.DequeuedMessage) error {
	_, err := w.in.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func (w *Worker) one(ctx context.Context, m *azqueue.DequeuedMessage) error {
	body, err := base64.StdEncoding.DecodeString(*m.MessageText)
	if err != nil || *m.DequeueCount > 5 {
		log.Printf("giving up on message %s: %q", *m.MessageID, *m.MessageText)
		return w.remove(ctx, m)
	}
	if err := w.handle(ctx, body); err != nil {
		return err
	}
	return w.remove(ctx, m)
}

// Run handles messages until the context ends.
func (w *Worker) Run(ctx context.Context) error {
	vis := int32(120)
	for ctx.Err() == nil {
		resp, err := w.in.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: &vis})
		if err != nil {
			return err
		}
		for _, m := range resp.Messages {
			if err := w.one(ctx, m); err != nil {
				log.Printf("message %s: %v", *m.MessageID, err)
			}
		}
		if len(resp.Messages) == 0 {
			time.Sleep(2 * time.Second)
		}
	}
	return ctx.Err()
}
