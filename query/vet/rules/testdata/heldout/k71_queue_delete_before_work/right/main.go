package mailer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const maxAttempts = 5

type letter struct {
	To      string
	Subject string
}

type Sender interface {
	Send(ctx context.Context, to, subject string) error
}

type Worker struct {
	queue  *azqueue.QueueClient
	failed *azqueue.QueueClient
	sender Sender
}

// One handles the next message and tells whether there was one.
func (w *Worker) One(ctx context.Context) (bool, error) {
	resp, err := w.queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(120))})
	if err != nil {
		return false, fmt.Errorf("dequeue: %w", err)
	}
	if len(resp.Messages) == 0 {
		return false, nil
	}
	m := resp.Messages[0]
	var l letter
	if err := json.Unmarshal([]byte(*m.MessageText), &l); err != nil || *m.DequeueCount > maxAttempts {
		slog.Warn("giving up", "message", *m.MessageID, "error", err)
		if _, err := w.failed.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
			return true, fmt.Errorf("parking: %w", err)
		}
		return true, w.remove(ctx, m)
	}
	sending, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	if err := w.sender.Send(sending, l.To, l.Subject); err != nil {
		return true, fmt.Errorf("sending: %w", err)
	}
	return true, w.remove(ctx, m)
}

func (w *Worker) remove(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if _, err := w.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
		return fmt.Errorf("deleting message: %w", err)
	}
	return nil
}
