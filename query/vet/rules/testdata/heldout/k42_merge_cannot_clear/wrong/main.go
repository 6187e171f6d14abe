package tasks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type task struct {
	PartitionKey string
	RowKey       string
	Title        string
	State        string
	Assignee     string `json:",omitempty"`
}

type Board struct {
	tasks *aztables.Client
}

// Release takes a task away from whoever works on it.
func (b *Board) Release(ctx context.Context, project, id uuid.UUID) error {
	got, err := b.tasks.GetEntity(ctx, project.String(), id.String(), nil)
	if err != nil {
		return fmt.Errorf("reading task %s: %w", id, err)
	}
	var t task
	if err := json.Unmarshal(got.Value, &t); err != nil {
		return fmt.Errorf("decoding task: %w", err)
	}
	t.Assignee = ""
	t.State = "open"
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = b.tasks.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		IfMatch:    &got.ETag,
		UpdateMode: aztables.UpdateModeMerge, // MISTAKE: The emptied field is omitted from the JSON and merged, so the old assignee stays in the row.
	})
	if err != nil {
		return fmt.Errorf("releasing task %s: %w", id, err)
	}
	return nil
}
