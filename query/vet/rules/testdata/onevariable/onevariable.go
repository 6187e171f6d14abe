package onevariable

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type user struct{ RowKey, Mail string }

func list(ctx context.Context, table *aztables.Client, filter string) (all []user, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var one user
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			if err := json.Unmarshal(raw, &one); err != nil { // want `each row is decoded into the same variable.*onevariable, error`
				return nil, err
			}
			all = append(all, one)
		}
		for _, raw := range page.Entities {
			var fresh user
			if err := json.Unmarshal(raw, &fresh); err != nil {
				return nil, err
			}
			all = append(all, fresh)
		}
	}
	return all, nil
}
