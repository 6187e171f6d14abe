package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Row keys are like 2024-05-17T08:30:00.000_<id>, in UTC.
const day = "2006-01-02"

type Sale struct {
	RowKey string
	Cents  int32
}

type Sales struct {
	table *aztables.Client
}

// Between returns the sales of a shop from the first to the last day, both included.
func (s *Sales) Between(ctx context.Context, shop uuid.UUID, first, last time.Time) ([]Sale, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s' and RowKey le '%s'", // MISTAKE: The upper bound is the plain date of the last day, so all row keys of that day, which go on with a time, are left out.
		shop, first.UTC().Format(day), last.UTC().Format(day))
	var sales []Sale
	pager := s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("sales of %s: %w", shop, err)
		}
		for _, raw := range page.Entities {
			var sale Sale
			if err := json.Unmarshal(raw, &sale); err != nil {
				return nil, fmt.Errorf("decoding sale: %w", err)
			}
			sales = append(sales, sale)
		}
	}
	return sales, nil
}
