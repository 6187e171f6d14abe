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
	"io"
	"log"
	"os"

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

	// 1. Declare the entity, the index, and the store that keeps the index up to date.
	table, err := patterns.NewTable[Employee](service.NewClient("Employees"), nil)
	if err != nil {
		return err
	}
	byEmail := secondaryindex.Intra("email",
		func(e *Employee) (string, bool) { return e.EmailAddress, e.EmailAddress != "" }, nil)
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byEmail}})
	if err != nil {
		return err
	}
	emails := byEmail.On(staff)
	if err := staff.Create(ctx); err != nil {
		return err
	}
	show("create the table")

	// 2. Insert: one transaction writes the employee and the index row.
	for _, e := range []Employee{
		{"Sales", "empid_000223", "Jim", "Jones", 34, "jonesj@contoso.com"},
		{"Sales", "empid_000010", "Ken", "Kwok", 23, "kenk@contoso.com"},
	} {
		if _, err := staff.Insert(ctx, &e); err != nil {
			return err
		}
		show("insert " + e.LastName)
	}

	// 3. Find by address: a point read of the index row, which is a full copy.
	jim, err := emails.Get(ctx, "Sales", "jonesj@contoso.com")
	if err != nil {
		return err
	}
	show("find by address", jim.Value.FirstName, jim.Primary.Row)

	// 4. List by address: a range of row keys.
	var addresses []string
	for e, err := range emails.Query(ctx, "Sales", secondaryindex.Prefix("k"), nil) {
		if err != nil {
			return err
		}
		addresses = append(addresses, e.Indexed)
	}
	show("list the addresses that begin with k", addresses)

	// 5. Change the address: the transaction replaces the employee, deletes the old index row and inserts the new one.
	_, err = staff.Update(ctx, jim.Primary, func(e *Employee) error {
		e.EmailAddress = "jim@contoso.com"
		return nil
	})
	if err != nil {
		return err
	}
	show("change an address")

	// 6. An address that another employee has is refused by the same transaction, and nothing is written.
	_, err = staff.Insert(ctx, &Employee{"Sales", "empid_000300", "Kay", "Kwok", 51, "kenk@contoso.com"})
	var duplicate *patterns.DuplicateError
	if !errors.As(err, &duplicate) {
		return fmt.Errorf("a second employee with the address: %w", err)
	}
	show("insert with an address that is taken", "refused by the index "+duplicate.View)

	// 7. Delete: one transaction for all rows of the employee.
	if err := staff.Delete(ctx, keys.Key{Partition: "Sales", Row: "empid_000010"}); err != nil {
		return err
	}
	show("delete an employee")
	return nil
}
