package request

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
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
	table *aztables.Client
	queue *azqueue.QueueClient
}

func (d *Desk) save(ctx context.Context, raw []byte) error {
	_, err := d.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
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
	if err := d.save(ctx, raw); err != nil {
		return fmt.Errorf("save request: %w", err)
	}
	if err := d.tell(ctx, raw); err != nil { // MISTAKE: a crash before this leaves a request of which the manager never hears; the message has to come first
		return fmt.Errorf("queue request: %w", err)
	}
	return nil
}
