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
	"log"

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

// open declares the store that keeps the row of the department up to date, and creates the table.
func open(ctx context.Context, client *aztables.Client) (*patterns.Store[Employee], *patterns.Table[Department], error) {
	table, err1 := patterns.NewTable[Employee](client, nil)
	departments, err2 := patterns.NewTable(client, &patterns.TableOptions[Department]{Keyless: true})
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views: []patterns.View[Employee]{manager, count},
	})
	if err != nil {
		return nil, nil, err
	}
	return staff, departments, staff.Create(ctx)
}

// hire reads the row of the department, and changes it in one transaction with the new employee.
func hire(ctx context.Context, staff *patterns.Store[Employee], e *Employee) error {
	_, err := staff.Insert(ctx, e)
	return err
}

// move changes the address of an employee: one transaction changes the manager's row and that of the department.
func move(ctx context.Context, staff *patterns.Store[Employee], key keys.Key, address string) error {
	_, err := staff.Update(ctx, key, func(e *Employee) error {
		e.EmailAddress = address
		return nil
	})
	return err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	staff, departments, err := open(ctx, acct.TablesWith(&opts).NewClient("Staff"))
	if err != nil {
		log.Fatal(err)
	}
	ken := Employee{"Sales", "00010", "Ken Kwok", "kenk@contoso.com", true}
	ann := Employee{"Sales", "00011", "Ann Beebe", "annb@contoso.com", false}
	read := func() (any, error) { // one point read
		sales, err := departments.Get(ctx, department(&ken))
		return fmt.Sprint(sales.Value.ManagerEmailAddress, " manages ", sales.Value.EmployeeCount), err
	}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"hire Ken Kwok", func() (any, error) { return nil, hire(ctx, staff, &ken) }},
		{"hire Ann Beebe", func() (any, error) { return nil, hire(ctx, staff, &ann) }},
		{"read the department", read},
		{"change the address of the manager", func() (any, error) {
			return nil, move(ctx, staff, keys.Key{Partition: "Sales", Row: ken.ID}, "ken@contoso.com")
		}},
		{"an employee leaves", func() (any, error) { // the count changes in the same transaction
			return nil, staff.Delete(ctx, keys.Key{Partition: "Sales", Row: ann.ID})
		}},
		{"read the department again", read},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
