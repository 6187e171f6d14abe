package backups

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Backups struct {
	t *aztables.Client
}

const odataTime = "2006-01-02T15:04:05Z"

func since(server string, t time.Time) string {
	server = strings.ReplaceAll(server, "'", "''")
	return fmt.Sprintf("PartitionKey eq '%s' and Started ge datetime'%s'", server, t.Format(odataTime)) // MISTAKE: t has the local zone, the literal calls it UTC
}

// Today counts the backups that were started since local midnight. Started is an Edm.DateTime.
func (b *Backups) Today(ctx context.Context, server string, zone *time.Location) (int, error) {
	now := time.Now().In(zone)
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)
	pager := b.t.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr(since(server, midnight)),
		Select: to.Ptr("RowKey"),
	})
	n := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += len(page.Entities)
	}
	return n, nil
}
