package wrong

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Comment struct {
	Author string
	Text   string
	At     time.Time
}

type Posts struct{ table *aztables.Client }

// AddComment appends a comment to a post.
func (p *Posts) AddComment(ctx context.Context, post string, c Comment) error {
	got, err := p.table.GetEntity(ctx, post, "comments", nil)
	if err != nil {
		return err
	}
	var row struct{ List string }
	if err := json.Unmarshal(got.Value, &row); err != nil {
		return err
	}
	var list []Comment
	if err := json.Unmarshal([]byte(row.List), &list); err != nil {
		return err
	}
	text, err := json.Marshal(append(list, c))
	if err != nil {
		return err
	}
	e := aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: post, RowKey: "comments"}}
	e.Properties = map[string]any{"List": string(text)} // MISTAKE: grows with each comment up to the size limit of a property
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = p.table.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{IfMatch: &got.ETag, UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Remove takes the post itself out of the index.
func (p *Posts) Remove(ctx context.Context, post string) error {
	_, err := p.table.DeleteEntity(ctx, post, "post", nil)
	return err
}
