package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Incident struct {
	RowKey  string
	Summary string
}

type History struct {
	c *aztables.Client
}

func rowKey(t time.Time) string {
	return fmt.Sprintf("%019d", t.UnixNano()) // MISTAKE: oldest first, the tail can only be reached through all rows
}

func (h *History) Add(ctx context.Context, machine, summary string, t time.Time) error {
	b, err := json.Marshal(map[string]string{"PartitionKey": machine, "RowKey": rowKey(t), "Summary": summary})
	if err != nil {
		return err
	}
	_, err = h.c.AddEntity(ctx, b, nil)
	return err
}

// Latest returns the newest n incidents of a machine.
func (h *History) Latest(ctx context.Context, machine string, n int) ([]Incident, error) {
	f := "PartitionKey eq '" + machine + "'"
	p := h.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	var all []Incident
	for p.More() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var i Incident
			if err := json.Unmarshal(raw, &i); err != nil {
				return nil, err
			}
			all = append(all, i)
		}
	}
	sort.Slice(all, func(i, j int) bool { return rowNewer(all[i], all[j]) })
	return all[:min(n, len(all))], nil
}

func rowNewer(a, b Incident) bool { return a.RowKey > b.RowKey }
