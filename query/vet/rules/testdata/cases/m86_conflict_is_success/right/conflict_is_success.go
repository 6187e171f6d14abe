package seats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrGone = errors.New("the seat was taken")

type Plan struct{ seats *aztables.Client }

type seat struct {
	PartitionKey, RowKey string
	Guest                string
}

// Reserve leaves a free seat to a guest.
func (p *Plan) Reserve(ctx context.Context, show, no, guest string) error {
	got, err := p.seats.GetEntity(ctx, show, no, nil)
	if err != nil {
		return fmt.Errorf("seat %s: %w", no, err)
	}
	var s seat
	if err := json.Unmarshal(got.Value, &s); err != nil {
		return err
	}
	if s.Guest != "" {
		return ErrGone
	}
	body, err := json.Marshal(seat{show, no, guest})
	if err != nil {
		return err
	}
	_, err = p.seats.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &got.ETag, UpdateMode: aztables.UpdateModeMerge})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
		return ErrGone
	}
	return err
}
