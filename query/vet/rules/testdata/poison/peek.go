package poison

import (
	"context"
	"encoding/base64"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func send(ctx context.Context, queue *azqueue.QueueClient, text []byte) error {
	_, err := queue.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(text), nil) // want `the text is encoded with base64 here`
	return err
}

func peek(ctx context.Context, queue *azqueue.QueueClient, work func(string)) error {
	reply, err := queue.PeekMessages(ctx, nil) // want `a message that is peeked at stays visible`
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		work(*m.MessageText)
	}
	return nil
}
