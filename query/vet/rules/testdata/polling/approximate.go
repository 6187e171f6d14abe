package polling

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func all(ctx context.Context, queue *azqueue.QueueClient, batch func() (int, error)) error {
	reply, err := queue.GetProperties(ctx, nil)
	if err != nil {
		return err
	}
	for left := int(*reply.ApproximateMessagesCount); left > 0; { // want `the number of messages is approximate`
		n, err := batch()
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

func spinning(ctx context.Context, queue *azqueue.QueueClient, work func(string)) {
	for ctx.Err() == nil {
		reply, err := queue.DequeueMessages(ctx, nil) // want `a request that failed is sent again without a pause`
		if err != nil {
			continue
		}
		if len(reply.Messages) == 0 {
			rest(ctx)
		}
		for _, m := range reply.Messages {
			work(*m.MessageText)
		}
	}
}
