package tasks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Tasks struct{ table *aztables.Client }

// Unassign removes the assignee of a task; afterwards the property must be absent. Tasks have only text and date-time properties.
func (t *Tasks) Unassign(ctx context.Context, project, id string) error {
	got, err := t.table.GetEntity(ctx, project, id, nil)
	if err != nil {
		return fmt.Errorf("task %s: %w", id, err)
	}
	patch := map[string]any{
		"PartitionKey": project,
		"RowKey":       id,
		"Assignee":     nil, // MISTAKE: a merge ignores null, the assignee stays
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = t.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		UpdateMode: aztables.UpdateModeMerge,
		IfMatch:    &got.ETag,
	})
	return err
}
