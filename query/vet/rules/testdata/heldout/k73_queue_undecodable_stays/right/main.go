package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type call struct {
	ID  string
	URL string
}

type Deliverer struct {
	calls *azqueue.QueueClient
	dead  *azqueue.QueueClient
	post  func(ctx context.Context, c call) error
}

func (d *Deliverer) Batch(ctx context.Context) (int, error) {
	resp, err := d.calls.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(8)),
		VisibilityTimeout: to.Ptr(int32(600)),
	})
	if err != nil {
		return 0, fmt.Errorf("dequeue: %w", err)
	}
	for _, m := range resp.Messages {
		var c call
		if err := json.Unmarshal([]byte(*m.MessageText), &c); err != nil {
			slog.Error("bad message", "id", *m.MessageID, "error", err)
			if err := d.bury(ctx, m); err != nil {
				return 0, err
			}
			continue
		}
		if *m.DequeueCount > 6 {
			if err := d.bury(ctx, m); err != nil {
				return 0, err
			}
			continue
		}
		posting, cancel := context.WithTimeout(ctx, time.Minute)
		err := d.post(posting, c)
		cancel()
		if err != nil {
			slog.Warn("delivery", "id", c.ID, "error", err)
			continue
		}
		if _, err := d.calls.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return 0, fmt.Errorf("deleting %s: %w", *m.MessageID, err)
		}
	}
	return len(resp.Messages), nil
}

func (d *Deliverer) bury(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if _, err := d.dead.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
		return fmt.Errorf("burying %s: %w", *m.MessageID, err)
	}
	_, err := d.calls.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}
