// Command denormalize reads a department with its manager and its size in one request: the denormalisation pattern.
//
// Problem: the row of the department contains the id of its manager. The name and the address of the manager take a
// second request, and the number of employees takes a query of all of them.
//
// Layout: these properties are stored in the row of the department too. All rows are in the partition of the
// department, so they change in one transaction.
//
//	PartitionKey  RowKey      Properties
//	Sales         00010       Name, EmailAddress, IsManager
//	Sales         Department  ManagerName, ManagerEmailAddress, EmployeeCount
//
// Use it for data that is read together often. Each hire writes the row of the department, so hires of one department
// wait for each other.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the entity.
type Employee struct {
	Department   string `table:"PartitionKey"`
	ID           string `table:"RowKey"`
	Name         string
	EmailAddress string
	IsManager    bool
}

// Manager is what the row of the department contains of its manager.
type Manager struct{ ManagerName, ManagerEmailAddress string }

// Department is the row of a department.
type Department struct {
	Manager
	EmployeeCount int64
}

func department(e *Employee) keys.Key { return keys.Key{Partition: e.Department, Row: "Department"} }

// What the row of the department contains of its employees. The row is in their partition, so the views need no
// client. NewStore returns the error of a view that is invalid.
var (
	manager = denormalize.Intra("manager", denormalize.Into(func(e *Employee) (keys.Key, Manager, bool) {
		return department(e), Manager{e.Name, e.EmailAddress}, e.IsManager
	}), nil)
	count = denormalize.Intra("count", denormalize.Count("EmployeeCount", func(e *Employee) (keys.Key, bool) {
		return department(e), true
	}), nil)
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Open the store that keeps the row of the department up to date.
	client := service.NewClient("Staff")
	table, err1 := patterns.NewTable[Employee](client, nil)
	departments, err2 := patterns.NewTable(client, &patterns.TableOptions[Department]{Keyless: true})
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views: []patterns.View[Employee]{manager, count},
	})
	if err != nil {
		return err
	}
	if err := staff.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()

	// 2. Hire: the row of the department is read, and then changes in one transaction with the new employee.
	for _, e := range []Employee{
		{"Sales", "00010", "Ken Kwok", "kenk@contoso.com", true},
		{"Sales", "00011", "Ann Beebe", "annb@contoso.com", false},
	} {
		if _, err := staff.Insert(ctx, &e); err != nil {
			return err
		}
		show("hire " + e.Name)
	}

	// 3. Read the department: one point read.
	read := func(step string) error {
		sales, err := departments.Get(ctx, keys.Key{Partition: "Sales", Row: "Department"})
		if err != nil {
			return err
		}
		show(step, sales.Value.ManagerEmailAddress, "manages", sales.Value.EmployeeCount)
		return nil
	}
	if err := read("read the department"); err != nil {
		return err
	}

	// 4. Change the address of the manager: one transaction changes both rows.
	_, err = staff.Update(ctx, keys.Key{Partition: "Sales", Row: "00010"}, func(e *Employee) error {
		e.EmailAddress = "ken@contoso.com"
		return nil
	})
	if err != nil {
		return err
	}
	show("change the address of the manager")

	// 5. An employee leaves: the count changes in the same transaction.
	if err := staff.Delete(ctx, keys.Key{Partition: "Sales", Row: "00011"}); err != nil {
		return err
	}
	show("an employee leaves")
	return read("read the department again")
}
