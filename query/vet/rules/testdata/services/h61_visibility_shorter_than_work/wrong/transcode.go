package transcode

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// A film takes up to ten minutes.
const workTime = 10 * time.Minute

type Transcoder interface {
	Transcode(ctx context.Context, film string) error
}

type Loop struct {
	queue  *azqueue.QueueClient
	poison *azqueue.QueueClient
	films  Transcoder
}

func (l *Loop) hide() *azqueue.DequeueMessageOptions {
	seconds := int32(60)
	return &azqueue.DequeueMessageOptions{VisibilityTimeout: &seconds}
}

func (l *Loop) Next(ctx context.Context) error {
	resp, err := l.queue.DequeueMessage(ctx, l.hide()) // MISTAKE: the message is visible again after a minute and a second worker takes the film, too
	if err != nil {
		return fmt.Errorf("dequeue: %w", err)
	}
	for _, m := range resp.Messages {
		if *m.DequeueCount > 3 {
			if _, err := l.poison.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
				return err
			}
		} else {
			work, cancel := context.WithTimeout(ctx, workTime)
			err := l.films.Transcode(work, *m.MessageText)
			cancel()
			if err != nil {
				return fmt.Errorf("transcode %s: %w", *m.MessageText, err)
			}
		}
		if _, err := l.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	return nil
}
