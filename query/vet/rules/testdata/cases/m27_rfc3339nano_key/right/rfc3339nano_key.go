package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Event struct {
	Who, What string
	When      time.Time
}

type Timeline struct {
	table *aztables.Client
}

func rowKey(e Event) string {
	return e.When.UTC().Format("2006-01-02T15:04:05.000000000Z") + "_" + e.Who
}

func (t *Timeline) Add(ctx context.Context, project string, e Event) error {
	body, err := json.Marshal(map[string]string{"PartitionKey": project, "RowKey": rowKey(e), "What": e.What})
	if err != nil {
		return err
	}
	if _, err = t.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("add event: %w", err)
	}
	return nil
}

// Read visits the events of a project in the order of time.
func (t *Timeline) Read(ctx context.Context, project string, visit func(key, what string)) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(project, "'", "''") + "'"
	pager := t.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var r struct{ RowKey, What string }
			if err := json.Unmarshal(raw, &r); err != nil {
				return err
			}
			visit(r.RowKey, r.What)
		}
	}
	return nil
}
