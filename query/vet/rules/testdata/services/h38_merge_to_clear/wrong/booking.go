package booking

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Seat struct {
	PartitionKey string
	RowKey       string
	Class        string
	Passenger    *string `json:",omitempty"`
}

type Seats struct {
	table *aztables.Client
}

func (s *Seats) load(ctx context.Context, flight, no string) (*Seat, azcore.ETag, error) {
	resp, err := s.table.GetEntity(ctx, flight, no, nil)
	if err != nil {
		return nil, "", err
	}
	var seat Seat
	if err := json.Unmarshal(resp.Value, &seat); err != nil {
		return nil, "", err
	}
	return &seat, resp.ETag, nil
}

// Release frees a seat. Seat holds all columns of its rows.
func (s *Seats) Release(ctx context.Context, flight, no string) error {
	seat, etag, err := s.load(ctx, flight, no)
	if err != nil {
		return err
	}
	seat.Passenger = nil
	raw, err := json.Marshal(seat)
	if err != nil {
		return err
	}
	_, err = s.table.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{
		IfMatch:    &etag,
		UpdateMode: aztables.UpdateModeMerge, // MISTAKE: a merge keeps properties that are not sent, so the passenger stays on the seat
	})
	return err
}
