package booking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrSoldOut = errors.New("no seats left")

type show struct {
	PartitionKey string
	RowKey       string
	Title        string
	Seats        int32
}

type Shows struct {
	table *aztables.Client
}

// Book takes seats of a show.
func (s *Shows) Book(ctx context.Context, theatre, id uuid.UUID, seats int32) error {
	resp, err := s.table.GetEntity(ctx, theatre.String(), id.String(), nil)
	if err != nil {
		return fmt.Errorf("reading show %s: %w", id, err)
	}
	var sh show
	if err := json.Unmarshal(resp.Value, &sh); err != nil {
		return fmt.Errorf("decoding show: %w", err)
	}
	if sh.Seats < seats {
		return ErrSoldOut
	}
	sh.Seats -= seats
	body, err := json.Marshal(sh)
	if err != nil {
		return err
	}
	_, err = s.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		UpdateMode: aztables.UpdateModeReplace,
		IfMatch:    &resp.ETag,
	})
	if err != nil {
		return fmt.Errorf("booking show %s: %w", id, err)
	}
	return nil
}
