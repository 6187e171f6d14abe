package right

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Thumbnailer struct {
	queue *azqueue.QueueClient
	// convert takes about ten seconds for a picture
	convert func(ctx context.Context, name string) error
}

func (t *Thumbnailer) fetch(ctx context.Context) ([]*azqueue.DequeuedMessage, error) {
	r, err := t.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr[int32](32),
		VisibilityTimeout: to.Ptr[int32](15 * 60),
	})
	return r.Messages, err
}

// Step works on one batch and reports how many pictures were done.
func (t *Thumbnailer) Step(ctx context.Context) (int, error) {
	msgs, err := t.fetch(ctx)
	if err != nil {
		return 0, fmt.Errorf("fetch: %w", err)
	}
	done := 0
	for _, m := range msgs {
		if *m.DequeueCount > 4 {
			slog.Error("dropping picture", "name", *m.MessageText)
		} else if err := t.convert(ctx, *m.MessageText); err != nil {
			slog.Warn("convert", "name", *m.MessageText, "err", err)
			continue
		}
		if _, err := t.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return done, fmt.Errorf("delete %s: %w", *m.MessageID, err)
		}
		done++
	}
	return done, nil
}
