package walk

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Visitor func(raw []byte) error

type Table struct {
	client *aztables.Client
}

func (t *Table) open(partition string) func(context.Context) ([][]byte, bool, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(partition, "'", "''") + "' and State eq 'failed'"
	pager := t.client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	return func(ctx context.Context) ([][]byte, bool, error) {
		if !pager.More() {
			return nil, false, nil
		}
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, false, err
		}
		return page.Entities, true, nil
	}
}

// Failed visits the failed jobs of a partition.
func (t *Table) Failed(ctx context.Context, partition string, visit Visitor) error {
	next := t.open(partition)
	for {
		rows, more, err := next(ctx)
		if err != nil {
			return err
		}
		if !more {
			return nil
		}
		for _, raw := range rows {
			if err := visit(raw); err != nil {
				return err
			}
		}
	}
}
