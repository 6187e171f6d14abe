package invoices

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const rowPrefix = "invoice_"

type Invoice struct {
	PartitionKey string
	RowKey       string
	State        string
}

// Rows are customer / invoice_<8 digits>, beside order_... and note_... rows.
type Ledger struct {
	table *aztables.Client
}

func (l *Ledger) span(customer string) string {
	pk := strings.ReplaceAll(customer, "'", "''")
	return "PartitionKey eq '" + pk + "' and RowKey ge '" + rowPrefix + "' and RowKey le '" + rowPrefix + "9'" // MISTAKE: invoice_90000000 and above sort after "invoice_9" and are left out
}

func (l *Ledger) Open(ctx context.Context, customer string) ([]Invoice, error) {
	filter := l.span(customer)
	var open []Invoice
	pager := l.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var inv Invoice
			if err := json.Unmarshal(raw, &inv); err != nil {
				return nil, err
			}
			if inv.State == "open" {
				open = append(open, inv)
			}
		}
	}
	return open, nil
}
