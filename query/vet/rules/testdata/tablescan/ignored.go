package tablescan

import "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

func active(table *aztables.Client) {
	filter := "Active eq true"
	//azvet:ignore tablescan the table has 20 rows
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}) //azvet:ignore tablescan the table has 20 rows

	//azvet:ignore tablescan
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}) // want `the service reads the whole table`

	//azvet:ignore injection another rule
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}) // want `the service reads the whole table`
}
