package stock

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type level struct {
	RowKey   string
	Quantity int32
}

type Warehouse struct {
	stock *aztables.Client
}

// Levels maps article numbers to the quantity in one warehouse.
func (w *Warehouse) Levels(ctx context.Context, id uuid.UUID) (map[string]int32, error) {
	options := aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq '" + id.String() + "'"),
		Select: to.Ptr("Quantity"), // MISTAKE: The projection leaves out RowKey, yet the code uses RowKey as the map key, which is therefore always empty.
	}
	levels := make(map[string]int32)
	pager := w.stock.NewListEntitiesPager(&options)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("stock of %s: %w", id, err)
		}
		for _, raw := range page.Entities {
			var l level
			if err := json.Unmarshal(raw, &l); err != nil {
				return nil, fmt.Errorf("decoding level: %w", err)
			}
			levels[l.RowKey] = l.Quantity
		}
	}
	return levels, nil
}

// Empty names the articles that have run out.
func Empty(levels map[string]int32) []string {
	var out []string
	for article, n := range levels {
		if n <= 0 {
			out = append(out, article)
		}
	}
	return out
}
