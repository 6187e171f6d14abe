package main

import "github.com/azpatterns/azpatterns/keys"

// Employee is a row of the table of employees: one partition a department, one row
// an employee.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	FirstName  string
	LastName   string
	Email      string
	Badge      string
	IsManager  bool

	// Stay identifies the time in this department. A job names the stay that it is
	// about, so that one which comes late, or twice, does nothing to somebody who
	// moved on, or was hired again.
	Stay string
	// State is empty but for a moment: see transfer and archiveNow.
	State string
	// Next is the stay that follows, of one who is leaving.
	Next string `table:",omitempty"`
	// CameFrom is the department before this one.
	CameFrom string
}

// The states of an employee who is on the way. The views leave such a row out, but
// for the e-mail address of one who arrives, which is then kept from others.
const (
	arriving = "arriving" // stored in the new department, not yet in force
	leaving  = "leaving"  // stored in the old one, no longer in force
	archived = "archived" // on the way to the archive
)

func (e *Employee) name() string     { return e.FirstName + " " + e.LastName }
func (e *Employee) in(s string) bool { return e.State == s }

// department is the row of a department, in the same partition as its employees.
func department(name string) keys.Key { return keys.Key{Partition: name, Row: "Department"} }

// Department is that row. Nobody writes it: it follows from the employees.
type Department struct {
	EmployeeCount int64
	ManagerName   string `table:",omitempty"`
	ManagerEmail  string `table:",omitempty"`
}

// manager is what a department knows of its manager.
type manager struct{ ManagerName, ManagerEmail string }
