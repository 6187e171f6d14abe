package badfilter

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var table *aztables.Client

func list(filter string) {
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}

func rejected(n int) {
	list("PartitionKey = 'p'")                                 // want `the service rejects this filter.*badfilter, error`
	list("PartitionKey eq 'p' and startswith(RowKey, 'a')")    // want `the service rejects`
	list("PartitionKey eq 'p' and Name eq null")               // want `the service rejects`
	list(fmt.Sprintf("PartitionKey eq 'p' and (Age gt %d", n)) // want `the service rejects`
}

func fine(n int, clause, op string) {
	list("PartitionKey eq 'p' and 30 lt Age and not (Ready)")
	list("PartitionKey eq 'p' and " + clause)
	list(fmt.Sprintf("PartitionKey eq 'p' and Age %s %d", op, n))
}
