package renew

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Step func(ctx context.Context) error

type held struct {
	queue *azqueue.QueueClient
	id    string
	text  string
	pop   string
}

func hold(q *azqueue.QueueClient, m *azqueue.DequeuedMessage) *held {
	return &held{queue: q, id: *m.MessageID, text: *m.MessageText, pop: *m.PopReceipt}
}

func (h *held) extend(ctx context.Context, d time.Duration) error {
	seconds := int32(d.Seconds())
	resp, err := h.queue.UpdateMessage(ctx, h.id, h.pop, h.text, &azqueue.UpdateMessageOptions{VisibilityTimeout: &seconds})
	if err != nil {
		return err
	}
	h.pop = *resp.PopReceipt
	return nil
}

func (h *held) delete(ctx context.Context) error {
	_, err := h.queue.DeleteMessage(ctx, h.id, h.pop, nil)
	return err
}

// Process runs the steps of a message; each takes up to four minutes. The
// caller moves messages away that were delivered too often.
func Process(ctx context.Context, q *azqueue.QueueClient, m *azqueue.DequeuedMessage, steps []Step) error {
	h := hold(q, m)
	for i, step := range steps {
		if err := h.extend(ctx, 5*time.Minute); err != nil {
			return fmt.Errorf("step %d: lost the message: %w", i, err)
		}
		if err := step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return h.delete(ctx)
}
