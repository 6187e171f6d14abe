package polling

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func busy(ctx context.Context, queue *azqueue.QueueClient, work func(string) error) error {
	for {
		reply, err := queue.DequeueMessage(ctx, nil) // want `an empty queue is asked again without a pause.*polling, warning`
		if err != nil {
			return err
		}
		for _, m := range reply.Messages {
			if *m.DequeueCount < 5 && work(*m.MessageText) == nil {
				queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
			}
		}
	}
}

func patient(ctx context.Context, queue *azqueue.QueueClient, work func(string) error) error {
	for ctx.Err() == nil {
		reply, err := queue.DequeueMessages(ctx, nil)
		if err != nil {
			return err
		}
		if len(reply.Messages) == 0 {
			time.Sleep(time.Second)
			continue
		}
		for _, m := range reply.Messages {
			if err := work(*m.MessageText); err != nil {
				return err
			}
		}
	}
	return nil
}

func drain(ctx context.Context, queue *azqueue.QueueClient) error {
	for {
		reply, err := queue.DequeueMessages(ctx, nil)
		if err != nil {
			return err
		}
		if len(reply.Messages) == 0 {
			return nil
		}
	}
}

func selecting(ctx context.Context, queue *azqueue.QueueClient, work func(string) error) {
	for {
		select {
		case <-ctx.Done():
			return
		default:
		}
		reply, err := queue.DequeueMessages(ctx, nil) // want `an empty queue is asked again without a pause`
		if err != nil {
			continue
		}
		for _, m := range reply.Messages {
			work(*m.MessageText)
		}
	}
}

func ticking(ctx context.Context, queue *azqueue.QueueClient, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		queue.DequeueMessages(ctx, nil)
	}
}
