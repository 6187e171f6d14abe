package right

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type project struct {
	RowKey   string
	Name     string
	Archived bool
}

// The Archived column came with release 4, rows of older releases do not have it.
const maxShown = 500

type projectRepo struct {
	table *aztables.Client
}

func (p *projectRepo) active(ctx context.Context, org string) ([]project, error) {
	clauses := []string{
		"PartitionKey eq '" + strings.ReplaceAll(org, "'", "''") + "'",
		"not (Archived eq true)",
	}
	f := strings.Join(clauses, " and ")
	list := []project{}
	pg := p.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pg.More() && len(list) < maxShown {
		res, err := pg.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("projects of %s: %w", org, err)
		}
		for _, raw := range res.Entities {
			var one project
			if err := json.Unmarshal(raw, &one); err != nil {
				return nil, err
			}
			list = append(list, one)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, nil
}
