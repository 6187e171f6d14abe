package drain

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Archive interface {
	Put(ctx context.Context, id, text string) error
}

// All moves every visible message of a queue into an archive.
func All(ctx context.Context, q *azqueue.QueueClient, a Archive) (int, error) {
	moved := 0
	for {
		props, err := q.GetProperties(ctx, nil)
		if err != nil {
			return moved, fmt.Errorf("properties: %w", err)
		}
		if *props.ApproximateMessagesCount == 0 { // MISTAKE: The approximate message count decides when the queue is empty, and it also counts hidden messages and is not exact.
			return moved, nil
		}
		resp, err := q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages:  to.Ptr(int32(16)),
			VisibilityTimeout: to.Ptr(int32(600)),
		})
		if err != nil {
			return moved, fmt.Errorf("dequeue: %w", err)
		}
		for _, m := range resp.Messages {
			// The archive replaces an entry that has the same id; a failure
			// ends the command and the operator looks at the message.
			if err := a.Put(ctx, *m.MessageID, *m.MessageText); err != nil {
				return moved, fmt.Errorf("archiving message %s (seen %d times): %w", *m.MessageID, *m.DequeueCount, err)
			}
			if _, err := q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
				return moved, fmt.Errorf("deleting: %w", err)
			}
			moved++
		}
	}
}
