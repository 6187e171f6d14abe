package thumbs

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Job struct {
	Image string `json:"image"`
	Width int    `json:"width"`
}

type Worker struct {
	jobs, poison *azqueue.QueueClient
	scale        func(context.Context, Job) error
}

func (w *Worker) remove(ctx context.Context, m *azqueue.DequeuedMessage) error {
	_, err := w.jobs.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

// handle works on one message; it is called for each one that was dequeued.
func (w *Worker) handle(ctx context.Context, m *azqueue.DequeuedMessage) error {
	var j Job
	if err := json.Unmarshal([]byte(*m.MessageText), &j); err != nil || *m.DequeueCount > 4 {
		if _, err := w.poison.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
			return err
		}
		return w.remove(ctx, m)
	}
	if err := w.scale(ctx, j); err != nil {
		return err
	}
	return w.remove(ctx, m)
}

// Once fetches one batch of jobs, and reports how many there were.
func (w *Worker) Once(ctx context.Context) (int, error) {
	r, err := w.jobs.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(4)), VisibilityTimeout: to.Ptr(int32(600))})
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, m := range r.Messages {
		errs = append(errs, w.handle(ctx, m))
	}
	return len(r.Messages), errors.Join(errs...)
}
