package listener

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Listener struct {
	queue  *azqueue.QueueClient
	poison *azqueue.QueueClient
	handle func(context.Context, *azqueue.DequeuedMessage) error
	wg     sync.WaitGroup
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Start runs n workers.
func (l *Listener) Start(ctx context.Context, n int) {
	for range n {
		l.wg.Go(func() { l.work(ctx) })
	}
}

func (l *Listener) Wait() { l.wg.Wait() }

func (l *Listener) work(ctx context.Context) {
	for ctx.Err() == nil {
		resp, err := l.queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(240))})
		if err != nil {
			continue // MISTAKE: A failing dequeue is ignored and repeated immediately, so an outage turns into an endless busy loop without any log line.
		}
		if len(resp.Messages) == 0 {
			pause(ctx, 3*time.Second)
			continue
		}
		m := resp.Messages[0]
		if *m.DequeueCount > 5 {
			_, err = l.poison.EnqueueMessage(ctx, *m.MessageText, nil)
		} else {
			err = l.handle(ctx, m)
		}
		if err != nil {
			slog.Error("handling", "message", *m.MessageID, "count", *m.DequeueCount, "error", err)
			continue
		}
		if _, err := l.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			slog.Error("deleting", "message", *m.MessageID, "error", err)
		}
	}
}
