package thumbs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Renderer func(ctx context.Context, image string) error

type Worker struct {
	images *azqueue.QueueClient
	poison *azqueue.QueueClient
	render Renderer
}

// Run works off the queue until ctx ends.
func (w *Worker) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		resp, err := w.images.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(300))})
		if err != nil {
			return fmt.Errorf("dequeue: %w", err)
		}
		if len(resp.Messages) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
			continue
		}
		m := resp.Messages[0]
		if err := w.one(ctx, *m.MessageText); err != nil {
			slog.Error("rendering", "message", *m.MessageID, "error", err)
			continue // MISTAKE: A message that always fails comes back for ever, because nobody looks at its dequeue count.
		}
		if _, err := w.images.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return fmt.Errorf("deleting message: %w", err)
		}
	}
	return ctx.Err()
}

func (w *Worker) one(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	return w.render(ctx, image)
}
