package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type posting struct {
	RowKey string
	Cents  int32
}

type Ledger struct {
	tbl *aztables.Client
}

func (l *Ledger) pager(account string) *runtime.Pager[aztables.ListEntitiesResponse] {
	f := fmt.Sprintf("PartitionKey eq '%s'", strings.ReplaceAll(account, "'", "''"))
	return l.tbl.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &f,
		Select: to.Ptr("RowKey,Cents"),
	})
}

// Balance adds up all postings of an account.
func (l *Ledger) Balance(ctx context.Context, account string) (int64, error) {
	var sum int64
	p := l.pager(account)
	page, err := p.NextPage(ctx) // MISTAKE: more than 1000 postings come in several pages
	if err != nil {
		return 0, fmt.Errorf("balance of %s: %w", account, err)
	}
	for _, raw := range page.Entities {
		var row posting
		if err := json.Unmarshal(raw, &row); err != nil {
			return 0, err
		}
		sum += int64(row.Cents)
	}
	return sum, nil
}
