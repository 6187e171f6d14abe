package bulk

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Fetcher struct {
	queue *azqueue.QueueClient
	work  func(context.Context, []string) error
	dead  func(context.Context, string) error
}

const (
	batch   int32 = 100 // MISTAKE: a dequeue call takes at most 32
	visible int32 = 10 * 60
)

// Next works on one batch and tells whether there was any work.
func (f *Fetcher) Next(ctx context.Context) (bool, error) {
	n, v := batch, visible
	resp, err := f.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: &n, VisibilityTimeout: &v})
	if err != nil {
		return false, err
	}
	var texts []string
	for _, m := range resp.Messages {
		if *m.DequeueCount > 5 {
			if err := f.dead(ctx, *m.MessageText); err != nil {
				return true, err
			}
			continue
		}
		texts = append(texts, *m.MessageText)
	}
	if len(texts) > 0 {
		if err := f.work(ctx, texts); err != nil {
			return true, err
		}
	}
	for _, m := range resp.Messages {
		if _, err := f.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return true, err
		}
	}
	return len(resp.Messages) > 0, nil
}
