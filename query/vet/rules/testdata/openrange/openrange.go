package openrange

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func orders(table *aztables.Client, user int, prefix int) {
	open := fmt.Sprintf("PartitionKey eq 'orders' and RowKey ge '%d_'", user)
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &open}) // want `only the lower bound of a prefix.*openrange, error`
	named := fmt.Sprintf("PartitionKey eq 'orders' and RowKey ge '%d'", prefix)
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &named}) // want `only the lower bound of a prefix`
	bounded := fmt.Sprintf("PartitionKey eq 'orders' and RowKey ge '%d_' and RowKey lt '%d`'", user, user)
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &bounded})
	from := fmt.Sprintf("PartitionKey eq 'orders' and RowKey ge '%d'", user) // all from this one
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &from})
}
