package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Push func(ctx context.Context, device, text string) error

type note struct{ Device, Text string }

type Listener struct {
	q    *azqueue.QueueClient
	push Push
	dead func(context.Context, *azqueue.DequeuedMessage) error
}

func (l *Listener) drop(ctx context.Context, m *azqueue.DequeuedMessage) {
	if _, err := l.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
		log.Println("delete:", err)
	}
}

func (l *Listener) On(ctx context.Context, m *azqueue.DequeuedMessage) error {
	defer l.drop(ctx, m) // MISTAKE: the deferred delete also runs after an error, the note is lost
	if *m.DequeueCount > 5 {
		return l.dead(ctx, m)
	}
	var n note
	if err := json.Unmarshal([]byte(*m.MessageText), &n); err != nil {
		return fmt.Errorf("note: %w", err)
	}
	if err := l.push(ctx, n.Device, n.Text); err != nil {
		return fmt.Errorf("push to %s: %w", n.Device, err)
	}
	return nil
}
