package storm

import (
	"context"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Pool struct {
	q    *azqueue.QueueClient
	work func(context.Context, string) error
	dead func(context.Context, string) error
}

func (p *Pool) one(ctx context.Context, m *azqueue.DequeuedMessage) {
	f := p.work
	if *m.DequeueCount > 5 {
		f = p.dead
	}
	if err := f(ctx, *m.MessageText); err != nil {
		slog.Error("work", "id", *m.MessageID, "err", err)
		return
	}
	if _, err := p.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
		slog.Error("delete", "id", *m.MessageID, "err", err)
	}
}

func (p *Pool) Run(ctx context.Context) error {
	for {
		resp, err := p.q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32)), VisibilityTimeout: to.Ptr(int32(300))})
		if err != nil {
			return err
		}
		for _, m := range resp.Messages {
			go p.one(ctx, m) // MISTAKE: a long queue becomes any number of goroutines, whose messages become visible again before they are done
		}
		if len(resp.Messages) == 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(3 * time.Second):
			}
		}
	}
}
