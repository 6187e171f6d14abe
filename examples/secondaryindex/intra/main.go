// Command intra finds employees by e-mail address within a department: the intra-partition secondary index.
//
// Problem: only PartitionKey and RowKey are indexed. A filter on any other property reads the whole partition.
//
// Layout: a copy of the employee in the same partition, under a row key made of the address. Both rows change in one
// transaction, so the copy is always correct and the address is unique in the department.
//
//	PartitionKey  RowKey                    Properties
//	Sales         empid_000223              FirstName, LastName, Age, EmailAddress
//	Sales         email_jonesj@contoso.com  the same, azp_pk and azp_rk (the key of the employee), azp_view
//
// Use it for several unique keys or sort orders. If one partition cannot serve the traffic, see secondaryindex/inter.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the entity. Its row key begins with "empid_", so that no index row can have the same key.
type Employee struct {
	PartitionKey, RowKey string // department, "empid_" and the id
	FirstName, LastName  string
	Age                  int32
	EmailAddress         string
}

// byEmail needs no client, because the index rows are in the table of the employees. NewStore returns its error.
var byEmail = secondaryindex.Intra("email",
	func(e *Employee) (string, bool) { return e.EmailAddress, e.EmailAddress != "" }, nil)

// newStaff declares the table and its index.
func newStaff(client *aztables.Client) (*patterns.Store[Employee], error) {
	table, err := patterns.NewTable[Employee](client, nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byEmail}})
}

// hire writes the employee and the index row in one transaction.
func hire(ctx context.Context, staff *patterns.Store[Employee], e *Employee) error {
	_, err := staff.Insert(ctx, e)
	return err
}

// takenIn returns the index by which an employee was refused, because another one has the value. Nothing was written.
func takenIn(refused error) (index string, err error) {
	var duplicate *patterns.DuplicateError
	if errors.As(refused, &duplicate) {
		return duplicate.View, nil
	}
	return "", refused
}

// addresses lists addresses: a range of row keys.
func addresses(ctx context.Context, staff *patterns.Store[Employee], department, prefix string) (addresses []string, err error) {
	for entry, err := range byEmail.On(staff).Query(ctx, department, secondaryindex.Prefix(prefix), nil) {
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, entry.Indexed)
	}
	return addresses, nil
}

// move changes an address: the transaction replaces the employee, deletes the old index row and inserts the new one.
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
	staff, err := newStaff(acct.TablesWith(&opts).NewClient("Employees"))
	if err != nil {
		log.Fatal(err)
	}
	jim := Employee{"Sales", "empid_000223", "Jim", "Jones", 34, "jonesj@contoso.com"}
	ken := Employee{"Sales", "empid_000010", "Ken", "Kwok", 23, "kenk@contoso.com"}
	kay := Employee{"Sales", "empid_000300", "Kay", "Kwok", 51, "kenk@contoso.com"}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"create the table", func() (any, error) { return nil, staff.Create(ctx) }},
		{"insert Jones", func() (any, error) { return nil, hire(ctx, staff, &jim) }},
		{"insert Kwok", func() (any, error) { return nil, hire(ctx, staff, &ken) }},
		{"find by address", func() (any, error) { // a point read of the index row, which is a full copy
			found, err := byEmail.On(staff).Get(ctx, "Sales", jim.EmailAddress)
			return found.Value.FirstName + " " + found.Primary.Row, err
		}},
		{"list the addresses that begin with k", func() (any, error) { return addresses(ctx, staff, "Sales", "k") }},
		{"change an address", func() (any, error) {
			return nil, move(ctx, staff, keys.Key{Partition: "Sales", Row: jim.RowKey}, "jim@contoso.com")
		}},
		{"insert with an address that is taken", func() (any, error) {
			index, err := takenIn(hire(ctx, staff, &kay))
			return "refused by the index " + index, err
		}},
		{"delete an employee", func() (any, error) { // one transaction for all rows of the employee
			return nil, staff.Delete(ctx, keys.Key{Partition: "Sales", Row: ken.RowKey})
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
