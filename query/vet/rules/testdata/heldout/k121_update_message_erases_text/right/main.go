package heartbeat

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const hidden int32 = 120

// Lock keeps a dequeued message hidden while it is worked on.
type Lock struct {
	queue   *azqueue.QueueClient
	id      string
	text    string
	receipt string
}

func NewLock(queue *azqueue.QueueClient, m *azqueue.DequeuedMessage) *Lock {
	return &Lock{queue: queue, id: *m.MessageID, text: *m.MessageText, receipt: *m.PopReceipt}
}

func (l *Lock) extend(ctx context.Context) error {
	resp, err := l.queue.UpdateMessage(ctx, l.id, l.receipt, l.text, &azqueue.UpdateMessageOptions{
		VisibilityTimeout: to.Ptr(hidden),
	})
	if err != nil {
		return fmt.Errorf("extending %s: %w", l.id, err)
	}
	l.receipt = *resp.PopReceipt
	return nil
}

// While runs work and extends the lock every 40 seconds; it deletes the
// message when the work is done.
func (l *Lock) While(ctx context.Context, work func(context.Context, string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx, l.text) }()
	tick := time.NewTicker(40 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			_, err = l.queue.DeleteMessage(ctx, l.id, l.receipt, nil)
			return err
		case <-tick.C:
			if err := l.extend(ctx); err != nil {
				return err
			}
		}
	}
}
