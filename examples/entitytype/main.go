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
	"log"
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

// openV1 is the first release.
func openV1(ctx context.Context, client *aztables.Client) (*entitytype.Table, error) {
	registry, err1 := entitytype.NewRegistry(nil)
	err2 := entitytype.Register[EmployeeV1](registry, "Employee", 1, nil)
	staff, err3 := entitytype.New(client, registry, nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return staff, staff.Create(ctx)
}

// open is the second release. It registers both versions, and a function that converts the first to the second.
func open(client *aztables.Client) (*entitytype.Table, error) {
	registry, err1 := entitytype.NewRegistry(nil)
	err2 := entitytype.Register(registry, "Employee", 1, func(e EmployeeV1) (any, error) {
		first, last, _ := strings.Cut(e.Name, " ")
		return Employee{first, last}, nil
	})
	err3 := entitytype.Register[Employee](registry, "Employee", 2, nil)
	err4 := entitytype.Register[Department](registry, "Department", 1, nil)
	staff, err5 := entitytype.New(client, registry, nil)
	return staff, errors.Join(err1, err2, err3, err4, err5)
}

// hire inserts an employee and changes the department in one transaction.
func hire(ctx context.Context, staff *entitytype.Table, department, id string, e Employee, d Department) error {
	_, err := staff.Transaction().
		Insert(keys.Key{Partition: department, Row: id}, &e).
		Upsert(keys.Key{Partition: department, Row: "Department"}, &d, patterns.Replace).
		Commit(ctx)
	return err
}

// list reads all types in one query, each as its Go type. Rows of the first release are converted.
func list(ctx context.Context, staff *entitytype.Table, department string) (rows []string, err error) {
	for e, err := range staff.Query(ctx, query.PartitionKey.Eq(department), nil) {
		if err != nil {
			return nil, err
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
	return rows, nil
}

// rename changes a last name. It stores the new version.
func rename(ctx context.Context, staff *entitytype.Table, key keys.Key, name string) (version int, err error) {
	e, err := staff.Update(ctx, key, func(e entitytype.Entity) error {
		e.Value.(*Employee).LastName = name
		return nil
	})
	return e.Version, err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	client := acct.TablesWith(&opts).NewClient("Staff")
	old, err1 := openV1(ctx, client)
	staff, err2 := open(client)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	ken := keys.Key{Partition: "Sales", Row: "00010"}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"the first release inserts an employee", func() (any, error) {
			_, err := old.Insert(ctx, ken, &EmployeeV1{"Ken Kwok"})
			return nil, err
		}},
		{"hire an employee and count", func() (any, error) {
			return nil, hire(ctx, staff, "Sales", "00011", Employee{"Ann", "Beebe"}, Department{2})
		}},
		{"read the partition", func() (any, error) {
			rows, err := list(ctx, staff, "Sales")
			return strings.Join(rows, ", "), err
		}},
		{"update the employee of the first release", func() (any, error) {
			version, err := rename(ctx, staff, ken, "Kwan")
			return fmt.Sprint("now version ", version), err
		}},
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
