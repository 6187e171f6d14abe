package main

import "github.com/azpatterns/azpatterns/keys"

// Employee is a row of the table of employees, which has one partition for each
// department and one row for each employee.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	FirstName  string
	LastName   string
	Email      string
	Badge      string
	IsManager  bool

	// Stay identifies the employee's time in this department. It changes when the
	// employee is transferred or hired again. A message contains the stay that it refers
	// to, so a message that arrives late or twice changes nothing.
	Stay string
	// State is empty, except during transfer and archiveNow.
	State string
	// Next is the stay in the next department while State is leaving.
	Next string `table:",omitempty"`
	// CameFrom is the previous department.
	CameFrom string
}

// The states of an employee who is moving. The views omit rows in these states, with one
// exception: the row of an arriving employee reserves the e-mail address.
const (
	arriving = "arriving" // in the new department, not yet active
	leaving  = "leaving"  // in the old department, no longer active
	archived = "archived" // will be moved to the archive
)

func (e *Employee) name() string { return e.FirstName + " " + e.LastName }
func (e *Employee) active() bool { return e.State == "" }

// department returns the key of a department's row, in the partition of its employees.
func department(name string) keys.Key { return keys.Key{Partition: name, Row: "Department"} }

// Department is the row of a department. Only the views write it.
type Department struct {
	EmployeeCount int64
	ManagerName   string `table:",omitempty"`
	ManagerEmail  string `table:",omitempty"`
}

// manager contains the properties of a department that are copied from its manager.
type manager struct{ ManagerName, ManagerEmail string }
