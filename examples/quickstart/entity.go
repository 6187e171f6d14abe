package main

import (
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// Employee is a row of the table Employees: one partition a department, one row an
// employee.
type Employee struct {
	Department   string `table:"PartitionKey"`
	ID           string `table:"RowKey"`
	FirstName    string
	LastName     string
	EmailAddress string
	Age          int32
}

func (e *Employee) key() keys.Key { return keys.Key{Partition: e.Department, Row: e.ID} }

// Claim is an entry of the log of expense claims.
type Claim struct {
	EmployeeID string
	Time       time.Time
	Amount     float64
	Purpose    string
}
