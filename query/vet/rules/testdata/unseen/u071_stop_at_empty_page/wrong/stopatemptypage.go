package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Defect struct {
	PartitionKey, RowKey string
	Component            string
	Open                 bool
}

type source interface {
	NewListEntitiesPager(*aztables.ListEntitiesOptions) *runtime.Pager[aztables.ListEntitiesResponse]
}

// OpenDefects collects the open defects of a component in all releases from the given one.
func OpenDefects(ctx context.Context, s source, release, component string) ([]Defect, error) {
	opts := new(aztables.ListEntitiesOptions)
	opts.Filter = to.Ptr(fmt.Sprintf("PartitionKey ge '%s' and Component eq '%s' and Open eq true",
		release, strings.ReplaceAll(component, "'", "''")))
	var out []Defect
	pager := s.NewListEntitiesPager(opts)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		if len(page.Entities) == 0 {
			break // MISTAKE: an empty page is not the last one when it has a continuation
		}
		for _, e := range page.Entities {
			var d Defect
			if err := json.Unmarshal(e, &d); err != nil {
				return nil, fmt.Errorf("defect: %w", err)
			}
			out = append(out, d)
		}
	}
	return out, nil
}
