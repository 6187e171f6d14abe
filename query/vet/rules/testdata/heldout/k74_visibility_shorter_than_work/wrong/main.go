package transcode

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const (
	jobTime = 10 * time.Minute
	hidden  = 10 * time.Second // MISTAKE: The message becomes visible again after 10 seconds while the transcoding may take ten minutes, so it is done several times.
	tries   = 3
)

type Job func(ctx context.Context, name string) error

// Next transcodes the next film and reports whether there was one.
func Next(ctx context.Context, films, broken *azqueue.QueueClient, job Job) (bool, error) {
	resp, err := films.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{
		VisibilityTimeout: to.Ptr(int32(hidden / time.Second)),
	})
	if err != nil {
		return false, fmt.Errorf("dequeue: %w", err)
	}
	if len(resp.Messages) == 0 {
		return false, nil
	}
	m := resp.Messages[0]
	if *m.DequeueCount > tries {
		slog.Error("film cannot be transcoded", "film", *m.MessageText)
		if _, err := broken.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
			return true, fmt.Errorf("parking: %w", err)
		}
	} else {
		running, cancel := context.WithTimeout(ctx, jobTime)
		err := job(running, *m.MessageText)
		cancel()
		if err != nil {
			return true, fmt.Errorf("transcoding %s: %w", *m.MessageText, err)
		}
	}
	if _, err := films.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
		return true, fmt.Errorf("deleting message: %w", err)
	}
	return true, nil
}
