package feed

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Post struct {
	RowKey string
	Body   string
	Author string
}

type Feed struct {
	posts *aztables.Client
}

// Latest returns at most limit posts; row keys are inverted time stamps.
func (f *Feed) Latest(ctx context.Context, group uuid.UUID, limit int32) ([]Post, error) {
	if limit < 1 || limit > 200 {
		return nil, fmt.Errorf("limit %d out of range", limit)
	}
	filter := "PartitionKey eq '" + group.String() + "'"
	pager := f.posts.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Top: &limit})
	var posts []Post
	for pager.More() && len(posts) < int(limit) {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("latest posts: %w", err)
		}
		for _, raw := range page.Entities {
			var p Post
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, fmt.Errorf("decoding post: %w", err)
			}
			posts = append(posts, p)
		}
	}
	if len(posts) > int(limit) {
		posts = posts[:limit]
	}
	return posts, nil
}
