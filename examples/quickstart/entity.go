package main

import (
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// Employee is a row of the table Employees. Each department is a partition.
type Employee struct {
	Department   string `table:"PartitionKey"`
	ID           string `table:"RowKey"`
	FirstName    string
	LastName     string
	EmailAddress string
	Age          int32
}

func (e *Employee) key() keys.Key { return keys.Key{Partition: e.Department, Row: e.ID} }

// Claim is an entry of the expense log.
type Claim struct {
	EmployeeID string
	Time       time.Time
	Amount     float64
	Purpose    string
}
