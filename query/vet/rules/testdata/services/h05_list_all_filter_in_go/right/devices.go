package devices

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Device rows are stored with the owner as partition and the serial as row.
type Device struct {
	PartitionKey string
	RowKey       string
	Model        string
}

func collect[T any](ctx context.Context, t *aztables.Client, opts *aztables.ListEntitiesOptions) ([]T, error) {
	var all []T
	for p := t.NewListEntitiesPager(opts); p.More(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var v T
			if err := json.Unmarshal(raw, &v); err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// OfOwner returns the devices that belong to owner.
func OfOwner(ctx context.Context, t *aztables.Client, owner string) ([]Device, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(owner, "'", "''") + "'"
	return collect[Device](ctx, t, &aztables.ListEntitiesOptions{Filter: &filter})
}
