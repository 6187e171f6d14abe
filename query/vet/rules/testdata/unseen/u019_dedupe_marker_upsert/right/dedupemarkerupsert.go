package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Inbox struct {
	seen *aztables.Client
}

// first reports whether this delivery was not handled before.
func (in *Inbox) first(ctx context.Context, provider, deliveryID string) (bool, error) {
	marker := aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: provider, RowKey: deliveryID},
		Properties: map[string]any{"SeenAt": aztables.EDMDateTime(time.Now().UTC())},
	}
	b, err := json.Marshal(marker)
	if err != nil {
		return false, err
	}
	_, err = in.seen.AddEntity(ctx, b, nil)
	var respErr *azcore.ResponseError
	if errors.As(err, &respErr) && respErr.ErrorCode == string(aztables.EntityAlreadyExists) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("marker %s: %w", deliveryID, err)
	}
	return true, nil
}

type Event struct {
	Provider, ID string
	Amount       int64
}

func (in *Inbox) Process(ctx context.Context, ev Event, book func(context.Context, Event) error) error {
	fresh, err := in.first(ctx, ev.Provider, ev.ID)
	if err != nil || !fresh {
		return err
	}
	if err := book(ctx, ev); err != nil {
		_, undo := in.seen.DeleteEntity(ctx, ev.Provider, ev.ID, nil)
		return errors.Join(err, undo)
	}
	return nil
}
