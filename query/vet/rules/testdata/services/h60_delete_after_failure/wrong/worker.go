package worker

import (
	"context"
	"errors"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const maxDeliveries = 5

type Job func(ctx context.Context, text string) error

type Worker struct {
	queue, poison *azqueue.QueueClient
	run           Job
	log           *slog.Logger
}

func (w *Worker) done(ctx context.Context, m *azqueue.DequeuedMessage) error {
	_, err := w.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func (w *Worker) handle(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if *m.DequeueCount > maxDeliveries {
		if _, err := w.poison.EnqueueMessage(ctx, *m.MessageText, &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))}); err != nil {
			return err
		}
		return w.done(ctx, m)
	}
	if err := w.run(ctx, *m.MessageText); err != nil {
		w.log.Error("job failed", "id", *m.MessageID, "error", err)
	}
	return w.done(ctx, m) // MISTAKE: a failed job is deleted like a good one and never tried again
}

// Batch handles a few short jobs; a job takes less than a second.
func (w *Worker) Batch(ctx context.Context) error {
	resp, err := w.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(8)),
		VisibilityTimeout: to.Ptr(int32(60)),
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range resp.Messages {
		errs = append(errs, w.handle(ctx, m))
	}
	return errors.Join(errs...)
}
