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
	var e aztables.EDMEntity
	if err := json.Unmarshal(got.Value, &e); err != nil {
		return err
	}
	delete(e.Properties, "Assignee")
	e.Entity = aztables.Entity{PartitionKey: project, RowKey: id}
	e.ETag = ""
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = t.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		UpdateMode: aztables.UpdateModeReplace,
		IfMatch:    &got.ETag,
	})
	return err
}
