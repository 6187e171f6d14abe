package watermark

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func changes(table *aztables.Client, last time.Time) {
	filter := fmt.Sprintf("PartitionKey eq 'orders' and Timestamp gt datetime'%s'", last.UTC().Format(time.RFC3339Nano))
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}) // want `a row can become visible after rows with a later Timestamp.*watermark, error`
	recent := fmt.Sprintf("PartitionKey eq 'orders' and Timestamp ge datetime'%s'", time.Now().UTC().Add(-time.Hour).Format(time.RFC3339))
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &recent})
	before := fmt.Sprintf("PartitionKey eq 'orders' and Timestamp lt datetime'%s'", last.UTC().Format(time.RFC3339))
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &before})
}
