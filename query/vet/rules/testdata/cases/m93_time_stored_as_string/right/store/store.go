package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/cases/m93_time_stored_as_string/right/model"
)

type Store struct{ C *aztables.Client }

func (s Store) Add(ctx context.Context, l model.Lease) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = s.C.AddEntity(ctx, b, nil)
	return err
}

// Ended lists the leases of a pool that ended before t.
func (s Store) Ended(ctx context.Context, pool string, t time.Time) ([]model.Lease, error) {
	f := fmt.Sprintf("PartitionKey eq '%s' and Ends lt datetime'%s'",
		strings.ReplaceAll(pool, "'", "''"), t.UTC().Format("2006-01-02T15:04:05Z"))
	var out []model.Lease
	for p := s.C.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f}); p.More(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var l model.Lease
			if err := json.Unmarshal(raw, &l); err != nil {
				return nil, err
			}
			out = append(out, l)
		}
	}
	return out, nil
}
