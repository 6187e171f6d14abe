package latest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Feed struct{ posts *aztables.Client }

type Post struct {
	RowKey string
	Title  string
}

// Latest returns the n newest posts; row keys hold the inverted time, so the newest is first.
func (f *Feed) Latest(ctx context.Context, blog string, n int32) ([]Post, error) {
	if n < 1 || n > 1000 {
		return nil, fmt.Errorf("n out of range: %d", n)
	}
	filter := "PartitionKey eq '" + strings.ReplaceAll(blog, "'", "''") + "'"
	pager := f.posts.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Top: &n})
	var posts []Post
	for pager.More() { // MISTAKE: Top is only the page size, the loop reads all posts of the blog
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var p Post
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, err
			}
			posts = append(posts, p)
		}
	}
	return posts, nil
}
