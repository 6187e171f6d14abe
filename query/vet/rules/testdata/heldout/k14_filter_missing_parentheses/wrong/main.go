package tickets

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Ticket struct {
	RowKey  string
	State   string
	Subject string
}

const (
	unfinished = "State eq 'open' or State eq 'waiting'" // MISTAKE: and binds tighter than or, so the second state is searched in every partition.
	finished   = "State eq 'closed'"
)

type Desk struct {
	table *aztables.Client
}

func (d *Desk) Unfinished(ctx context.Context, team uuid.UUID) ([]Ticket, error) {
	return d.list(ctx, team, unfinished)
}

func (d *Desk) Finished(ctx context.Context, team uuid.UUID) ([]Ticket, error) {
	return d.list(ctx, team, finished)
}

func (d *Desk) list(ctx context.Context, team uuid.UUID, condition string) ([]Ticket, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and %s", team, condition)
	pager := d.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var tickets []Ticket
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("tickets of %s: %w", team, err)
		}
		for _, raw := range page.Entities {
			var t Ticket
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, fmt.Errorf("decoding ticket: %w", err)
			}
			tickets = append(tickets, t)
		}
	}
	return tickets, nil
}
