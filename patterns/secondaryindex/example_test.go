package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Person is found by id, by e-mail address and by last name, all in the partition of
// the department.
type Person struct {
	PartitionKey string // department
	RowKey       string // "empid_" and the id
	Name         string
	LastName     string
	Email        string
}

func Example() {
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process
	service := acct.TablesWith(patterns.Accelerate(nil))

	table, err := patterns.NewTable[Person](service.NewClient("Employees"), nil)
	if err != nil {
		log.Fatal(err)
	}
	byEmail, err := secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.Email, p.Email != "" })
	if err != nil {
		log.Fatal(err)
	}
	byLastName, err := secondaryindex.Intra("lastname", func(p *Person) (string, bool) { return p.LastName, true },
		secondaryindex.Options[Person]{NonUnique: true})
	if err != nil {
		log.Fatal(err)
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Person]{Views: []patterns.View[Person]{byEmail, byLastName}})
	if err != nil {
		log.Fatal(err)
	}
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}

	for _, p := range []Person{
		{"Sales", "empid_000223", "Jim Jones", "Jones", "jonesj@contoso.com"},
		{"Sales", "empid_000152", "Mary Jones", "Jones", "maryj@contoso.com"},
		{"Sales", "empid_000010", "Ken Kwok", "Kwok", "kenk@contoso.com"},
	} {
		if _, err := staff.Insert(ctx, &p); err != nil { // three rows, one request
			log.Fatal(err)
		}
	}
	emails, err := byEmail.On(staff)
	if err != nil {
		log.Fatal(err)
	}
	lastNames, err := byLastName.On(staff)
	if err != nil {
		log.Fatal(err)
	}

	acct.ResetLog()
	e, err := emails.Get(ctx, "Sales", "jonesj@contoso.com")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Value.Name, e.Primary.Row, len(acct.Log()), "request")

	for e, err := range lastNames.Lookup(ctx, "Sales", "Jones", nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("Jones:", e.Value.Name)
	}
	for e, err := range emails.Prefix(ctx, "Sales", "k", nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("k:", e.Value.Name)
	}

	// An address that is taken is refused, and nothing is written.
	_, err = staff.Insert(ctx, &Person{"Sales", "empid_000300", "John Jonesy", "Jonesy", "jonesj@contoso.com"})
	var taken *patterns.DuplicateError
	fmt.Println(errors.As(err, &taken), taken.View)
	// Output:
	// Jim Jones empid_000223 1 request
	// Jones: Mary Jones
	// Jones: Jim Jones
	// k: Ken Kwok
	// true email
}
