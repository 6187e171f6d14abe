package projects

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Projects struct {
	table *aztables.Client
}

// Transfer moves a project to another team, which is its partition.
func (p *Projects) Transfer(ctx context.Context, from, to, id uuid.UUID) error {
	got, err := p.table.GetEntity(ctx, from.String(), id.String(), nil)
	if err != nil {
		return fmt.Errorf("reading project %s: %w", id, err)
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(got.Value, &e); err != nil {
		return fmt.Errorf("decoding project %s: %w", id, err)
	}
	moved := aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: to.String(), RowKey: e.RowKey},
		Properties: e.Properties,
	}
	body, err := json.Marshal(moved)
	if err != nil {
		return err
	}
	if _, err := p.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("adding project %s: %w", id, err)
	}
	if _, err := p.table.DeleteEntity(ctx, from.String(), id.String(), &aztables.DeleteEntityOptions{IfMatch: &got.ETag}); err != nil {
		return fmt.Errorf("removing project %s: %w", id, err)
	}
	return nil
}
