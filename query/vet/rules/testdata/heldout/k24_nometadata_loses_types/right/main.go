package usage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Meter struct {
	table *aztables.Client
}

// Bytes adds up what a customer has transferred.
func (m *Meter) Bytes(ctx context.Context, customer uuid.UUID) (int64, error) {
	pager := m.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr(fmt.Sprintf("PartitionKey eq '%s'", customer)),
		Format: to.Ptr(aztables.MetadataFormatMinimal),
	})
	var total int64
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, fmt.Errorf("usage of %s: %w", customer, err)
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return 0, fmt.Errorf("decoding usage: %w", err)
			}
			n, ok := e.Properties["Bytes"].(aztables.EDMInt64)
			if !ok {
				return 0, fmt.Errorf("row %s: Bytes is %T", e.RowKey, e.Properties["Bytes"])
			}
			total += int64(n)
		}
	}
	return total, nil
}
