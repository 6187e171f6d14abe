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
	blobName := d.ID + ".html"
	if _, err := p.store.NewBlockBlobClient(blobName).UploadBuffer(ctx, []byte(d.HTML), nil); err != nil {
		return fmt.Errorf("store %s: %w", d.ID, err)
	}
	body, err := json.Marshal(Document{ID: d.ID})
	if err != nil {
		return err
	}
	opts := &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))}
	_, err = p.queue.EnqueueMessage(ctx, string(body), opts)
	if err != nil {
		return fmt.Errorf("queue %s: %w", d.ID, err)
	}
	return nil
}
