package model

import (
	"time"
)

// Lease is one rented machine.
type Lease struct {
	PartitionKey string
	RowKey       string
	Ends         time.Time // MISTAKE: a time.Time is marshalled as a plain string, the query below asks for a DateTime
}

func New(pool, id string, ends time.Time) Lease {
	return Lease{PartitionKey: pool, RowKey: id, Ends: ends.UTC()}
}
