package metrics

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const batch int32 = 100 // MISTAKE: More than 32 messages are asked for in one call, which the service rejects with 400.

type Recorder interface {
	Record(texts []string) error
}

// Collect hands one batch of samples to the recorder.
func Collect(ctx context.Context, samples, bad *azqueue.QueueClient, rec Recorder) (int, error) {
	resp, err := samples.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(batch),
		VisibilityTimeout: to.Ptr(int32(300)),
	})
	if err != nil {
		return 0, fmt.Errorf("dequeue: %w", err)
	}
	var texts []string
	for _, m := range resp.Messages {
		if *m.DequeueCount > 5 {
			slog.Warn("sample rejected", "message", *m.MessageID)
			if _, err := bad.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
				return 0, fmt.Errorf("rejecting: %w", err)
			}
			continue
		}
		texts = append(texts, *m.MessageText)
	}
	if err := rec.Record(texts); err != nil {
		return 0, fmt.Errorf("recording: %w", err)
	}
	for _, m := range resp.Messages {
		if _, err := samples.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return 0, fmt.Errorf("deleting: %w", err)
		}
	}
	return len(texts), nil
}
