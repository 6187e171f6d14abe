package reminders

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Notifier interface {
	Notify(ctx context.Context, text string) error
	Undeliverable(ctx context.Context, text string) error
}

type Sweeper struct {
	reminders *azqueue.QueueClient
	notifier  Notifier
}

// Sweep is called once a minute by the scheduler.
func (s *Sweeper) Sweep(ctx context.Context) error {
	resp, err := s.reminders.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(10)),
		VisibilityTimeout: to.Ptr(int32(300)),
	})
	if err != nil {
		return fmt.Errorf("reading reminders: %w", err)
	}
	for _, m := range resp.Messages {
		notify := s.notifier.Notify
		if *m.DequeueCount > 5 {
			notify = s.notifier.Undeliverable
		}
		if err := notify(ctx, *m.MessageText); err != nil {
			return fmt.Errorf("reminder %s: %w", *m.MessageID, err)
		}
		if _, err := s.reminders.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return fmt.Errorf("deleting reminder %s: %w", *m.MessageID, err)
		}
	}
	return nil
}
