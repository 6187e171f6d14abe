package literaltype

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type entity struct {
	aztables.Entity
	Name  string
	Age   int32
	Ready bool
	Size  int64
	Count int `json:"Number"`
}

var table *aztables.Client

func list(filter string) {
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}

func mismatched(n int, since string) {
	list("PartitionKey eq 'p' and RowKey gt 5")                                 // want `RowKey: the property is of type String, the literal of type Int32`
	list("PartitionKey eq 'p' and Timestamp ge '2026-01-01T00:00:00Z'")         // want `Timestamp: the property is of type DateTime, the literal of type String`
	list("PartitionKey eq 'p' and Age eq '30'")                                 // want `Age: the property is of type Int32`
	list(fmt.Sprintf("PartitionKey eq 'p' and Name eq %d", n))                  // want `Name: the property is of type String.*literaltype, error`
	list("PartitionKey eq 'p' and Ready eq 'true'")                             // want `Ready: the property is of type Bool`
	list(fmt.Sprintf("PartitionKey eq 'p' and Timestamp ge datetime'%s'", "x")) // want `the service rejects this filter`
}

func fine(n int) {
	list("PartitionKey eq 'p' and Age eq 30 and Ready eq true and Name eq '5'")
	list("PartitionKey eq 'p' and Timestamp ge datetime'2026-01-01T00:00:00Z'")
	list(fmt.Sprintf("PartitionKey eq 'p' and Size eq %d and Number eq '3' and Other eq '5'", n))
}

func numbers(table *aztables.Client, since int64, version int32) {
	filter := fmt.Sprintf("PartitionKey eq 'p' and Since gt %d and Version eq %d", since, version) // want `an int64 is formatted without the suffix L`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	suffixed := fmt.Sprintf("PartitionKey eq 'p' and Since gt %dL", since)
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &suffixed})
}
