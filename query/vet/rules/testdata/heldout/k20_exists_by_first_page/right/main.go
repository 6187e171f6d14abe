package reservations

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrRoomInUse = errors.New("room has open reservations")

type Rooms struct {
	rooms        *aztables.Client
	reservations *aztables.Client
}

func (r *Rooms) hasOpen(ctx context.Context, room uuid.UUID) (bool, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and State eq 'open'", room)
	pager := r.reservations.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &filter,
		Select: to.Ptr("RowKey"),
		Top:    to.Ptr(int32(1)),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return false, fmt.Errorf("reservations of %s: %w", room, err)
		}
		if len(page.Entities) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// Check refuses rooms that still have open reservations.
func (r *Rooms) Check(ctx context.Context, room uuid.UUID) error {
	open, err := r.hasOpen(ctx, room)
	if err != nil {
		return err
	}
	if open {
		return ErrRoomInUse
	}
	return nil
}
