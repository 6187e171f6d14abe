package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type request struct {
	PartitionKey string
	RowKey       string
	State        string
	Approvals    int32
	Needed       int32
}

var errClosed = errors.New("request is closed")

type Service struct{ requests *aztables.Client }

// Approve adds one approval and closes the request when there are enough.
func (s *Service) Approve(ctx context.Context, team, id uuid.UUID) error {
	got, err := s.requests.GetEntity(ctx, team.String(), id.String(), nil)
	if err != nil {
		return fmt.Errorf("reading request: %w", err)
	}
	var req request
	if err := json.Unmarshal(got.Value, &req); err != nil {
		return err
	}
	if req.State != "open" {
		return errClosed
	}
	if req.Approvals++; req.Approvals >= req.Needed {
		req.State = "approved"
	}
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	opts := &aztables.UpdateEntityOptions{
		IfMatch:    to.Ptr(azcore.ETagAny), // MISTAKE: The write is conditional on any version although it depends on the value just read.
		UpdateMode: aztables.UpdateModeMerge,
	}
	if _, err := s.requests.UpdateEntity(ctx, body, opts); err != nil {
		return fmt.Errorf("approving %s: %w", id, err)
	}
	return nil
}
