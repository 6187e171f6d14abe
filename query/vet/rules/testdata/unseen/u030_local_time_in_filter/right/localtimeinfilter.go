package right

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type reportConfig struct {
	Endpoint  string
	Partition string
	Hours     int
}

const odataTime = "2006-01-02T15:04:05Z"

func window(now time.Time, hours int) (string, string) {
	return now.UTC().Add(-time.Duration(hours) * time.Hour).Format(odataTime), now.UTC().Format(odataTime)
}

func countEvents(ctx context.Context, c *aztables.Client, cfg reportConfig) (int, error) {
	from, until := window(time.Now(), cfg.Hours)
	f := fmt.Sprintf("PartitionKey eq '%s' and OccurredAt ge datetime'%s' and OccurredAt lt datetime'%s'", cfg.Partition, from, until)
	pager := c.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &f,
		Select: to.Ptr("RowKey"),
	})
	var total int
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		total += len(page.Entities)
	}
	return total, nil
}

// Report prints the number of events of the last hours.
func Report(ctx context.Context, cred azcore.TokenCredential, cfg reportConfig) error {
	client, err := aztables.NewClient(cfg.Endpoint+"/events", cred, nil)
	if err != nil {
		return err
	}
	n, err := countEvents(ctx, client, cfg)
	if err != nil {
		return err
	}
	fmt.Printf("%d events in %d hours\n", n, cfg.Hours)
	return nil
}
