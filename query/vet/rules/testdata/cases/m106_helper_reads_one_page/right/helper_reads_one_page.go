package helper

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type lister interface {
	NewListEntitiesPager(*aztables.ListEntitiesOptions) *runtime.Pager[aztables.ListEntitiesResponse]
}

func all[T any](ctx context.Context, l lister, filter string) ([]T, error) {
	pager := l.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var out []T
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var v T
			if err := json.Unmarshal(raw, &v); err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

type Tenant struct{ RowKey, Plan string }

type Admin struct{ Table *aztables.Client }

// Tenants returns all tenants of a region.
func (a *Admin) Tenants(ctx context.Context, region string) ([]Tenant, error) {
	return all[Tenant](ctx, a.Table, "PartitionKey eq '"+strings.ReplaceAll(region, "'", "''")+"'")
}
