package right

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type heartbeat struct {
	q       *azqueue.QueueClient
	id      string
	receipt string
	text    string
	every   time.Duration
}

// run keeps the message invisible until done is closed and returns the last receipt.
func (h *heartbeat) run(ctx context.Context, done <-chan struct{}) (string, error) {
	t := time.NewTicker(h.every)
	defer t.Stop()
	secs := int32(2 * h.every / time.Second)
	opts := azqueue.UpdateMessageOptions{VisibilityTimeout: &secs}
	for {
		select {
		case <-done:
			return h.receipt, nil
		case <-ctx.Done():
			return h.receipt, ctx.Err()
		case <-t.C:
			r, err := h.q.UpdateMessage(ctx, h.id, h.receipt, h.text, &opts)
			if err != nil {
				return h.receipt, fmt.Errorf("keep message %s: %w", h.id, err)
			}
			h.receipt = *r.PopReceipt
		}
	}
}

// Hold runs work while the message stays hidden from others, and deletes it after success.
func Hold(ctx context.Context, q *azqueue.QueueClient, m *azqueue.DequeuedMessage, work func(string) error) error {
	h := &heartbeat{q: q, id: *m.MessageID, receipt: *m.PopReceipt, text: *m.MessageText, every: 20 * time.Second}
	done, result := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(done)
		result <- work(*m.MessageText)
	}()
	receipt, err := h.run(ctx, done)
	if err != nil {
		return err
	}
	if err := <-result; err != nil {
		return err
	}
	_, err = q.DeleteMessage(ctx, h.id, receipt, nil)
	return err
}
