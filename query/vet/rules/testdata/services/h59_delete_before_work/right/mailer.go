package mailer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Mail struct {
	ID, To, Subject, Body string
}

// Sender sends a mail once for each id.
type Sender interface {
	Send(ctx context.Context, m Mail) error
}

type Mailer struct {
	queue  *azqueue.QueueClient
	poison *azqueue.QueueClient
	sender Sender
}

// Step handles at most one message and tells whether there was one.
func (m *Mailer) Step(ctx context.Context) (bool, error) {
	resp, err := m.queue.DequeueMessage(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, msg := range resp.Messages {
		if *msg.DequeueCount > 5 {
			if _, err := m.poison.EnqueueMessage(ctx, *msg.MessageText, nil); err != nil {
				return true, err
			}
			_, err := m.queue.DeleteMessage(ctx, *msg.MessageID, *msg.PopReceipt, nil)
			return true, err
		}
		var mail Mail
		if err := json.Unmarshal([]byte(*msg.MessageText), &mail); err != nil {
			return true, err
		}
		if err := m.sender.Send(ctx, mail); err != nil {
			return true, fmt.Errorf("send mail %s: %w", mail.ID, err)
		}
		if _, err := m.queue.DeleteMessage(ctx, *msg.MessageID, *msg.PopReceipt, nil); err != nil {
			return true, fmt.Errorf("delete message: %w", err)
		}
	}
	return len(resp.Messages) > 0, nil
}
