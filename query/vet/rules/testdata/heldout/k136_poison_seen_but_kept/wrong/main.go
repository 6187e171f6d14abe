package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Call struct {
	Name string
	ID   string
}

type Manager struct {
	queue   *azqueue.QueueClient
	poison  *azqueue.QueueClient
	perform func(ctx context.Context, c Call) error
}

// Round handles up to ten calls at the same time.
func (m *Manager) Round(ctx context.Context) error {
	resp, err := m.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(10)),
		VisibilityTimeout: to.Ptr(int32(180)),
	})
	if err != nil {
		return fmt.Errorf("dequeue: %w", err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, msg := range resp.Messages {
		var c Call
		err := json.Unmarshal([]byte(*msg.MessageText), &c)
		if err != nil || *msg.DequeueCount > 3 {
			slog.Error("poison message", "id", *msg.MessageID, "error", err)
			continue // MISTAKE: The poison message is recognised and skipped but never removed, so it is delivered again and again.
		}
		wg.Go(func() { m.one(ctx, c, msg) })
	}
	return nil
}

func (m *Manager) one(ctx context.Context, c Call, msg *azqueue.DequeuedMessage) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := m.perform(ctx, c); err != nil {
		slog.Error("call failed", "call", c.ID, "error", err)
		return
	}
	if _, err := m.queue.DeleteMessage(ctx, *msg.MessageID, *msg.PopReceipt, nil); err != nil {
		slog.Error("deleting", "call", c.ID, "error", err)
	}
}
