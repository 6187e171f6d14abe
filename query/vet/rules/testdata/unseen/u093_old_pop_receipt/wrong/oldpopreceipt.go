package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Report struct{ Customer, Month string }

type builder struct {
	q     *azqueue.QueueClient
	build func(ctx context.Context, r Report) error
	store func(ctx context.Context, r Report) error
}

func (b *builder) process(ctx context.Context, m *azqueue.DequeuedMessage) error {
	var r Report
	if err := json.Unmarshal([]byte(*m.MessageText), &r); err != nil {
		return fmt.Errorf("message %s: %w", *m.MessageID, err)
	}
	if err := b.build(ctx, r); err != nil {
		return err
	}
	more := int32(300)
	if _, err := b.q.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, *m.MessageText, &azqueue.UpdateMessageOptions{VisibilityTimeout: &more}); err != nil {
		return err
	}
	if err := b.store(ctx, r); err != nil {
		return err
	}
	_, err := b.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil) // MISTAKE: the update above has given a new pop receipt
	return err
}

// Next handles one message; it tells whether there was one.
func (b *builder) Next(ctx context.Context) (bool, error) {
	resp, err := b.q.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr[int32](300)})
	if err != nil || len(resp.Messages) == 0 {
		return false, err
	}
	m := resp.Messages[0]
	if *m.DequeueCount > 3 {
		log.Printf("report given up: %s", *m.MessageText)
		_, err = b.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
		return true, err
	}
	return true, b.process(ctx, m)
}
