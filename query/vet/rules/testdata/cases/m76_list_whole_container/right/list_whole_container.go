package hourlogs

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Logs struct {
	c *container.Client
}

// Hour returns the names of the log blobs of one service and hour, named service/yyyy/mm/dd/hh/n.log.
func (l *Logs) Hour(ctx context.Context, service string, t time.Time) ([]string, error) {
	prefix := service + "/" + t.UTC().Format("2006/01/02/15") + "/"
	var names []string
	pager := l.c.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		for _, b := range page.Segment.BlobItems {
			names = append(names, *b.Name)
		}
	}
	return names, nil
}
