package request

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Leave struct {
	PartitionKey string
	RowKey       string
	From, Until  string
}

// Desk takes requests for leave. The worker behind the queue writes the row
// with an upsert when it is not there yet, and then informs the manager.
type Desk struct {
	queue *azqueue.QueueClient
}

func (d *Desk) tell(ctx context.Context, raw []byte) error {
	_, err := d.queue.EnqueueMessage(ctx, string(raw), &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))})
	return err
}

// Ask files a request; id was made by the browser, so a repeat is harmless.
func (d *Desk) Ask(ctx context.Context, employee, id, from, until string) error {
	raw, err := json.Marshal(Leave{PartitionKey: employee, RowKey: id, From: from, Until: until})
	if err != nil {
		return err
	}
	if err := d.tell(ctx, raw); err != nil {
		return fmt.Errorf("queue request: %w", err)
	}
	return nil
}
