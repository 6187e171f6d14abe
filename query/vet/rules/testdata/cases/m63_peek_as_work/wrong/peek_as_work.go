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
	resp, err := s.q.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(32))}) // MISTAKE: a peek hides nothing, the same messages are noted again at each call and by each worker
	if err != nil {
		return err
	}
	for _, m := range resp.Messages {
		if *m.DequeueCount > 5 {
			if err := s.dead(ctx, *m.MessageText); err != nil {
				return err
			}
			continue
		}
		if err := s.note(ctx, *m.MessageText); err != nil {
			return err
		}
	}
	return nil
}
