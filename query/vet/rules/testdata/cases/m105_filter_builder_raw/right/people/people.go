package people

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/cases/m105_filter_builder_raw/right/filter"
)

type People struct{ T *aztables.Client }

// Names lists the row keys of a town's people with a last name, for instance O'Brien.
func (p People) Names(ctx context.Context, town, last string) ([]string, error) {
	f := filter.Eq("PartitionKey", town).And("LastName", "eq", last).String()
	pager := p.T.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	var out []string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var e aztables.Entity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			out = append(out, e.RowKey)
		}
	}
	return out, nil
}
