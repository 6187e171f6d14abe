package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

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
	pager := l.tasks.NewListEntitiesPager(nil) // MISTAKE: reads the whole table to show one partition
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
