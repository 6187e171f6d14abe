package intake

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

const maxDocument = 5 << 20

type Document struct {
	ID   uuid.UUID
	HTML []byte
}

type Intake struct {
	work  *azqueue.QueueClient
	blobs *azblob.Client
}

// Accept queues a document for conversion.
func (i *Intake) Accept(ctx context.Context, d Document) error {
	if len(d.HTML) == 0 || len(d.HTML) > maxDocument {
		return fmt.Errorf("document %s has %d bytes", d.ID, len(d.HTML))
	}
	if _, err := i.blobs.UploadBuffer(ctx, "intake", d.ID.String()+".html", d.HTML, nil); err != nil {
		return fmt.Errorf("storing document %s: %w", d.ID, err)
	}
	text, err := json.Marshal(map[string]uuid.UUID{"ID": d.ID})
	if err != nil {
		return err
	}
	if _, err := i.work.EnqueueMessage(ctx, string(text), nil); err != nil {
		return fmt.Errorf("queueing document %s: %w", d.ID, err)
	}
	return nil
}
