package numbers

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type counter struct {
	PartitionKey string
	RowKey       string
	Value        int32
}

// Sequence hands out invoice numbers to all replicas of the service.
type Sequence struct {
	mu    sync.Mutex
	table *aztables.Client
}

func (s *Sequence) Next(ctx context.Context, company uuid.UUID) (int32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	got, err := s.table.GetEntity(ctx, company.String(), "invoice", nil)
	if err != nil {
		return 0, fmt.Errorf("reading counter of %s: %w", company, err)
	}
	var c counter
	if err := json.Unmarshal(got.Value, &c); err != nil {
		return 0, fmt.Errorf("decoding counter: %w", err)
	}
	c.Value++
	body, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	opts := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge, IfMatch: &got.ETag}
	if _, err := s.table.UpdateEntity(ctx, body, opts); err != nil {
		return 0, fmt.Errorf("advancing counter of %s: %w", company, err)
	}
	return c.Value, nil
}
