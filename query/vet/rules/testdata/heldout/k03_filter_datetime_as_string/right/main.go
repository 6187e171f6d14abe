package invoices

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Store struct {
	table *aztables.Client
}

func (s *Store) Add(ctx context.Context, customer, id uuid.UUID, due time.Time) error {
	entity := aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: customer.String(), RowKey: id.String()},
		Properties: map[string]any{"DueAt": aztables.EDMDateTime(due.UTC())},
	}
	body, err := json.Marshal(entity)
	if err != nil {
		return err
	}
	if _, err := s.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("adding invoice %s: %w", id, err)
	}
	return nil
}

// Overdue returns the invoices of a customer that were due before the given moment.
func (s *Store) Overdue(ctx context.Context, customer uuid.UUID, at time.Time) ([]string, error) {
	stamp := at.UTC().Format(time.RFC3339)
	filter := fmt.Sprintf("PartitionKey eq '%s' and DueAt lt datetime'%s'", customer, stamp)
	pager := s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var ids []string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("overdue invoices: %w", err)
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			ids = append(ids, e.RowKey)
		}
	}
	return ids, nil
}
