// Command entitytype stores departments and employees in one table: working with heterogeneous entity types.
//
// Problem: entities of different types share a partition, so that they can change in one transaction. The service does
// not store the type of a row, and rows of an old release have other properties than those of a new one.
//
// Layout: a property contains the type and its version.
//
//	PartitionKey  RowKey      EntityType    Properties
//	Sales         00010       Employee:1    Name
//	Sales         00011       Employee:2    FirstName, LastName
//	Sales         Department  Department:1  EmployeeCount
//
// Use it if a table contains several types, or a type whose properties change over time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// EmployeeV1 is what the first release stored.
type EmployeeV1 struct{ Name string }

// Employee is the present version.
type Employee struct{ FirstName, LastName string }

// Department is another type.
type Department struct{ EmployeeCount int32 }

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
	client := service.NewClient("Staff")

	// 1. The first release stores an employee.
	old, err1 := entitytype.NewRegistry(nil)
	err2 := entitytype.Register[EmployeeV1](old, "Employee", 1, nil)
	before, err3 := entitytype.New(client, old, nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if err := before.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()
	if _, err := before.Insert(ctx, keys.Key{Partition: "Sales", Row: "00010"}, &EmployeeV1{"Ken Kwok"}); err != nil {
		return err
	}
	show("the first release inserts an employee")

	// 2. The second release registers both versions, and a function that converts the first to the second.
	registry, err1 := entitytype.NewRegistry(nil)
	err2 = entitytype.Register(registry, "Employee", 1, func(e EmployeeV1) (any, error) {
		first, last, _ := strings.Cut(e.Name, " ")
		return Employee{first, last}, nil
	})
	err3 = entitytype.Register[Employee](registry, "Employee", 2, nil)
	err4 := entitytype.Register[Department](registry, "Department", 1, nil)
	staff, err5 := entitytype.New(client, registry, nil)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}

	// 3. An employee and the department change in one transaction.
	_, err := staff.Transaction().
		Insert(keys.Key{Partition: "Sales", Row: "00011"}, &Employee{"Ann", "Beebe"}).
		Upsert(keys.Key{Partition: "Sales", Row: "Department"}, &Department{2}, patterns.Replace).
		Commit(ctx)
	if err != nil {
		return err
	}
	show("hire an employee and count")

	// 4. One query returns all types, each as its Go type. Rows of the first release are converted.
	var rows []string
	for e, err := range staff.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
		if err != nil {
			return err
		}
		switch v := e.Value.(type) {
		case *Employee:
			rows = append(rows, fmt.Sprintf("%s %s of version %d", v.FirstName, v.LastName, e.Version))
		case *Department:
			rows = append(rows, fmt.Sprintf("a department of %d", v.EmployeeCount))
		case *entitytype.Unknown: // a type that is not registered; a write keeps its properties
			rows = append(rows, "another type")
		}
	}
	show("read the partition", strings.Join(rows, ", "))

	// 5. An update stores the new version.
	ken, err := staff.Update(ctx, keys.Key{Partition: "Sales", Row: "00010"}, func(e entitytype.Entity) error {
		e.Value.(*Employee).LastName = "Kwan"
		return nil
	})
	if err != nil {
		return err
	}
	show("update the employee of the first release", "now version", ken.Version)
	return nil
}
