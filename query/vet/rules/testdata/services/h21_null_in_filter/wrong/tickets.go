package tickets

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Ticket struct {
	PartitionKey string
	RowKey       string
	Subject      string
	ClosedBy     *string `json:",omitempty"`
}

type Desk struct {
	tickets *aztables.Client
}

// Open lists the tickets of a project that no one has closed.
func (d *Desk) Open(ctx context.Context, project string) ([]Ticket, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(project, "'", "''") + "' and ClosedBy eq null" // MISTAKE: null is not supported in a filter, and a missing property matches no comparison
	var open []Ticket
	pager := d.tickets.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var t Ticket
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, err
			}
			open = append(open, t)
		}
	}
	return open, nil
}
