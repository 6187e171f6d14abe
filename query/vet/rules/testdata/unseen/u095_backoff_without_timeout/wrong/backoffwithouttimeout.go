package wrong

import (
	"context"
	"encoding/json"
	"log"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type task struct {
	URL      string `json:"url"`
	Attempts int    `json:"attempts"`
}

type crawler struct {
	q     *azqueue.QueueClient
	fetch func(ctx context.Context, url string) error
}

func pause(attempts int) int32 {
	return int32(min(30<<attempts, 3600))
}

func (c *crawler) again(ctx context.Context, m *azqueue.DequeuedMessage, t task) error {
	t.Attempts++
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	log.Printf("%s: next attempt in about %d s", t.URL, pause(t.Attempts))
	_, err = c.q.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, string(text), nil) // MISTAKE: without a timeout the message is visible immediately
	return err
}

func (c *crawler) handle(ctx context.Context, m *azqueue.DequeuedMessage) error {
	var t task
	err := json.Unmarshal([]byte(*m.MessageText), &t)
	if err != nil || t.Attempts >= 6 {
		slog.Error("page given up", "message", *m.MessageText)
	} else if ferr := c.fetch(ctx, t.URL); ferr != nil {
		slog.Warn("fetch", "url", t.URL, "err", ferr)
		return c.again(ctx, m, t)
	}
	_, err = c.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}
