package geocode

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Geocoder interface {
	Locate(ctx context.Context, address string) error
}

type Batcher struct {
	queue    *azqueue.QueueClient
	rejected *azqueue.QueueClient
	geo      Geocoder
}

// Drain handles one batch of addresses.
func (b *Batcher) Drain(ctx context.Context) error {
	resp, err := b.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(32)),
		VisibilityTimeout: to.Ptr(int32(30)), // MISTAKE: 32 messages are hidden for 30 seconds and worked off one after the other at up to 20 seconds each.
	})
	if err != nil {
		return fmt.Errorf("dequeue: %w", err)
	}
	for _, m := range resp.Messages {
		if *m.DequeueCount > 4 {
			if _, err := b.rejected.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
				return fmt.Errorf("rejecting: %w", err)
			}
		} else if err := b.locate(ctx, *m.MessageText); err != nil {
			slog.Warn("locating", "message", *m.MessageID, "error", err)
			continue
		}
		if _, err := b.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return fmt.Errorf("deleting: %w", err)
		}
	}
	return nil
}

func (b *Batcher) locate(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return b.geo.Locate(ctx, address)
}
