package docs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Document struct {
	ID   string `json:"id"`
	HTML string `json:"html,omitempty"`
}

type Publisher struct {
	store *container.Client
	queue *azqueue.QueueClient
}

// Publish hands a rendered page of any size to the workers.
func (p *Publisher) Publish(ctx context.Context, d Document) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	opts := &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))}
	_, err = p.queue.EnqueueMessage(ctx, string(body), opts) // MISTAKE: the page is part of the message, which may have 64 KiB only
	if err != nil {
		return fmt.Errorf("queue %s: %w", d.ID, err)
	}
	return nil
}
