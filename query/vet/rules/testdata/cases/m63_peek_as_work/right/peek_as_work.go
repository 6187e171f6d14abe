package summary

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Summary struct {
	q    *azqueue.QueueClient
	note func(ctx context.Context, text string) error
	dead func(ctx context.Context, text string) error
}

// Collect notes the texts of up to 32 waiting messages; each one shall be noted once.
func (s *Summary) Collect(ctx context.Context) error {
	resp, err := s.q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32)), VisibilityTimeout: to.Ptr(int32(120))})
	if err != nil {
		return err
	}
	for _, m := range resp.Messages {
		f := s.note
		if *m.DequeueCount > 5 {
			f = s.dead
		}
		if err := f(ctx, *m.MessageText); err != nil {
			return err
		}
		if _, err := s.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
	}
	return nil
}
