package model

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Lease is one rented machine.
type Lease struct {
	PartitionKey string
	RowKey       string
	Ends         aztables.EDMDateTime
	EndsType     string `json:"Ends@odata.type"`
}

func New(pool, id string, ends time.Time) Lease {
	return Lease{PartitionKey: pool, RowKey: id, Ends: aztables.EDMDateTime(ends.UTC()), EndsType: "Edm.DateTime"}
}
