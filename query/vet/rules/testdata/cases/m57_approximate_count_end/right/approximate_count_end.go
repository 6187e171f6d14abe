package migrate

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Run struct {
	q    *azqueue.QueueClient
	step func(context.Context, string) error
	dead func(context.Context, string) error
}

func (r *Run) batch(ctx context.Context) (int, error) {
	resp, err := r.q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32)), VisibilityTimeout: to.Ptr(int32(900))})
	if err != nil {
		return 0, err
	}
	for _, m := range resp.Messages {
		f := r.step
		if *m.DequeueCount > 5 {
			f = r.dead
		}
		if err := f(ctx, *m.MessageText); err != nil {
			return 0, err
		}
		if _, err := r.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return 0, err
		}
	}
	return len(resp.Messages), nil
}

// All works on the messages that are in the queue at the start; no one adds any later.
func (r *Run) All(ctx context.Context) error {
	for empty := 0; empty < 3; {
		n, err := r.batch(ctx)
		if err != nil {
			return err
		}
		if n > 0 {
			empty = 0
			continue
		}
		empty++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
	return nil
}
