package right

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Task struct {
	PartitionKey string
	RowKey       string
	Title        string
	Done         bool
}

type lister struct {
	tasks *aztables.Client
	out   io.Writer
}

func (l lister) openTasks(ctx context.Context, assignee string) error {
	f := fmt.Sprintf("PartitionKey eq '%s' and Done eq false", strings.ReplaceAll(assignee, "'", "''"))
	pager := l.tasks.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	n := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list tasks: %w", err)
		}
		for _, raw := range page.Entities {
			var t Task
			if err := json.Unmarshal(raw, &t); err != nil {
				return err
			}
			if t.PartitionKey != assignee || t.Done {
				continue
			}
			n++
			fmt.Fprintf(l.out, "%-12s %s\n", t.RowKey, t.Title)
		}
	}
	if n == 0 {
		fmt.Fprintln(l.out, "nothing to do")
	}
	return nil
}
