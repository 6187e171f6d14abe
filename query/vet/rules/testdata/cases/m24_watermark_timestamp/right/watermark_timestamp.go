package sync2

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Puller copies changed rows of a shop to a search index.
type Puller struct {
	rows  *aztables.Client
	index func(ctx context.Context, e aztables.EDMEntity) error
}

// Pull hands on all rows of the change log behind mark. Writers put a log row
// with the next number (20 digits) into the same transaction as the change.
func (p *Puller) Pull(ctx context.Context, shop string, mark uint64) (uint64, error) {
	f := fmt.Sprintf("PartitionKey eq '%s' and RowKey gt 'log_%020d' and RowKey lt 'log`'",
		strings.ReplaceAll(shop, "'", "''"), mark)
	next := mark
	pager := p.rows.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return mark, err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return mark, err
			}
			if err := p.index(ctx, e); err != nil {
				return mark, err
			}
			n, err := strconv.ParseUint(strings.TrimPrefix(e.RowKey, "log_"), 10, 64)
			if err != nil {
				return mark, err
			}
			next = n
		}
	}
	return next, nil
}
