package wrong

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// PartitionKey is the service, RowKey begins with the day. A scheduled job makes the tables ahead of time.
type Traces struct {
	svc  *aztables.ServiceClient
	base string
}

func (t Traces) tableFor(day time.Time) *aztables.Client {
	return t.svc.NewClient(t.base) // MISTAKE: all months share a table, so old rows must be deleted one by one
}

func (t Traces) Put(ctx context.Context, service, id string, at time.Time, body string) error {
	b, err := json.Marshal(map[string]string{
		"PartitionKey": service,
		"RowKey":       at.UTC().Format("20060102") + "-" + id,
		"Body":         body,
	})
	if err != nil {
		return err
	}
	_, err = t.tableFor(at).AddEntity(ctx, b, nil)
	return err
}

// DropMonth removes all traces of the month of the given day.
func (t Traces) DropMonth(ctx context.Context, day time.Time) error {
	c := t.tableFor(day)
	m := day.UTC().Format("200601")
	pager := c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("RowKey ge '" + m + "' and RowKey lt '" + m + "~'")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var e aztables.Entity
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if _, err := c.DeleteEntity(ctx, e.PartitionKey, e.RowKey, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
