package sync2

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Puller copies changed rows of a shop to a search index.
type Puller struct {
	rows  *aztables.Client
	index func(ctx context.Context, e aztables.EDMEntity) error
}

// Pull hands on all rows that changed after mark and returns the new mark.
func (p *Puller) Pull(ctx context.Context, shop string, mark time.Time) (time.Time, error) {
	f := fmt.Sprintf("PartitionKey eq '%s' and Timestamp gt datetime'%s'", // MISTAKE: rows that commit late with an older Timestamp are never seen, and the filter scans the partition
		strings.ReplaceAll(shop, "'", "''"), mark.UTC().Format(time.RFC3339Nano))
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
			if t := time.Time(e.Timestamp); t.After(next) {
				next = t
			}
		}
	}
	return next, nil
}
