package visibility

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type worker struct{ queue *azqueue.QueueClient }

func (w *worker) short(ctx context.Context) error {
	reply, err := w.queue.DequeueMessage(ctx, nil) // want `a message is hidden for 30s, and the work with it may take longer.*visibility, error` `the messages are never deleted`
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		if err := w.convert(ctx, *m.MessageText); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) enough(ctx context.Context) error {
	reply, err := w.queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(600))}) // want `the messages are never deleted`
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		if err := w.convert(ctx, *m.MessageText); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) convert(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return ctx.Err()
}
