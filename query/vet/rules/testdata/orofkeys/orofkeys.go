package orofkeys

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var table *aztables.Client

func list(filter string) {
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(filter)})
}

func rows(a, b int) {
	list("PartitionKey eq 'p' and (RowKey eq 'a' or RowKey eq 'b')")                      // want `keys joined by or are read as a PartitionScan.*Point .*× 2.*orofkeys, warning`
	list(fmt.Sprintf("PartitionKey eq 'p' and (RowKey eq '%d' or RowKey eq '%d')", a, b)) // want `PartitionScan`
	list("PartitionKey eq 'p' or PartitionKey eq 'q'")                                    // want `read as a TableScan`
}

func fine() {
	list("PartitionKey eq 'p' and RowKey eq 'a'")
	list("PartitionKey eq 'p' and (Name eq 'a' or Name eq 'b')")
	list("PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'")
	var parts []string
	parts = append(parts, "Name eq 'x'")
	list("PartitionKey eq 'p' and (" + strings.Join(parts, " or ") + ")")
}
