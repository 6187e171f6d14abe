package right

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Comment struct {
	Author string
	Text   string
	At     time.Time
}

type Posts struct{ table *aztables.Client }

// AddComment appends a comment to a post.
func (p *Posts) AddComment(ctx context.Context, post string, c Comment) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	e := aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: post, RowKey: "comments"}}
	e.RowKey = "comment-" + c.At.UTC().Format("20060102150405.000000") + "-" + uuid.NewString()
	e.Properties = map[string]any{"Comment": string(text)}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = p.table.AddEntity(ctx, raw, nil)
	return err
}

// Remove takes the post itself out of the index.
func (p *Posts) Remove(ctx context.Context, post string) error {
	_, err := p.table.DeleteEntity(ctx, post, "post", nil)
	return err
}
