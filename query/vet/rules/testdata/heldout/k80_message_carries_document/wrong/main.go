package intake

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

const maxDocument = 5 << 20

type Document struct {
	ID   uuid.UUID
	HTML []byte
}

type Intake struct {
	work *azqueue.QueueClient
}

// Accept queues a document for conversion.
func (i *Intake) Accept(ctx context.Context, d Document) error {
	if len(d.HTML) == 0 || len(d.HTML) > maxDocument {
		return fmt.Errorf("document %s has %d bytes", d.ID, len(d.HTML))
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if _, err := i.work.EnqueueMessage(ctx, string(text), nil); err != nil { // MISTAKE: The whole document is put into the message, which may have 64 KiB at most.
		return fmt.Errorf("queueing document %s: %w", d.ID, err)
	}
	return nil
}
