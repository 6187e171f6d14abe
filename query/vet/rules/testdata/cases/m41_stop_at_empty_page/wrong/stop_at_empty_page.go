package overdue

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Invoice struct {
	RowKey string
	Cents  int32
}

type Invoices struct{ c *aztables.Client }

// Unpaid hands on the unpaid invoices of a year; few of many match.
func (v Invoices) Unpaid(ctx context.Context, year string, each func(Invoice) error) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(year, "'", "''") + "' and Paid eq false"
	pager := v.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		if len(page.Entities) == 0 {
			break // MISTAKE: an empty page can have a continuation, rows behind it are lost
		}
		for _, raw := range page.Entities {
			var inv Invoice
			if err := json.Unmarshal(raw, &inv); err != nil {
				return err
			}
			if err := each(inv); err != nil {
				return err
			}
		}
	}
	return nil
}
