package sysprops

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/sysprops/model"
)

var table *aztables.Client

type own struct {
	PartitionKey, RowKey string
	When                 string `json:"timestamp"`
}

func list() {
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("partitionKey eq 'p'"),     // want `partitionKey is not the system property PartitionKey.*no row matches` `whole table`
		Select: to.Ptr("PartitionKey,Rowkey,Age"), // want `Rowkey is not the system property RowKey.*without it \(sysprops, error\)`
	})
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq 'rowkey' and timestamp eq '5'"), // own names it so
		Select: to.Ptr("PartitionKey,RowKey,Timestamp,timestamp"),
	})
}

func events() (all []model.Event) {
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq 'p' and timeStamp ge '2026'"), // model.Event names it so
	})
	return all
}
