package tickets2

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Ticket struct {
	RowKey   string
	State    string
	Priority int32
}

type Board struct {
	table *aztables.Client
}

func (b *Board) query(project string, extra string) *runtime.Pager[aztables.ListEntitiesResponse] {
	f := "PartitionKey eq '" + strings.ReplaceAll(project, "'", "''") + "'"
	if extra != "" {
		f += " and " + extra
	}
	return b.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Select: to.Ptr("RowKey,State,Priority")})
}

// Urgent lists the open tickets of high priority; nine of ten tickets are closed.
func (b *Board) Urgent(ctx context.Context, project string) ([]Ticket, error) {
	var out []Ticket
	pager := b.query(project, "") // MISTAKE: all tickets are sent over the net though the service could filter
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
			if t.State == "open" && t.Priority >= 8 {
				out = append(out, t)
			}
		}
	}
	return out, nil
}
