package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

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
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)

	table, err := patterns.NewTable[Person](service.NewClient("Employees"), nil)
	if err != nil {
		log.Fatal(err)
	}
	byEmail := secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.Email, p.Email != "" }, nil)
	byLastName := secondaryindex.Intra("lastname", func(p *Person) (string, bool) { return p.LastName, true },
		&secondaryindex.Options[Person]{NonUnique: true})
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
	emails := byEmail.On(staff)
	lastNames := byLastName.On(staff)

	acct.ResetLog()
	e, err := emails.Get(ctx, "Sales", "jonesj@contoso.com")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Value.Name, e.Primary.Row, len(acct.Log()), "request")

	for e, err := range lastNames.Query(ctx, "Sales", secondaryindex.Equal("Jones"), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("Jones:", e.Value.Name)
	}
	for e, err := range emails.Query(ctx, "Sales", secondaryindex.Prefix("k"), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("k:", e.Value.Name)
	}

	// An address that another person has is refused, and nothing is written.
	_, err = staff.Insert(ctx, &Person{"Sales", "empid_000300", "John Jonesy", "Jonesy", "jonesj@contoso.com"})
	var duplicate *patterns.DuplicateError
	fmt.Println(errors.As(err, &duplicate), duplicate.View)
	// Output:
	// Jim Jones empid_000223 1 request
	// Jones: Mary Jones
	// Jones: Jim Jones
	// k: Ken Kwok
	// true email
}

// newPersonnel returns a store of three persons, and the reader of its index by e-mail
// address.
func newPersonnel(ctx context.Context) (*patterns.Store[Person], *secondaryindex.Reader[Person]) {
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := storagetest.Start(nil).TablesWith(&opts)
	table, err := patterns.NewTable[Person](service.NewClient("Personnel"), nil)
	if err != nil {
		log.Fatal(err)
	}
	byEmail := secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.Email, p.Email != "" },
		&secondaryindex.Options[Person]{Only: []string{"LastName"}})
	personnel, err := patterns.NewStore(table, &patterns.StoreOptions[Person]{Views: []patterns.View[Person]{byEmail}})
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
		if _, err := personnel.Insert(ctx, &p); err != nil {
			log.Fatal(err)
		}
	}
	emails := byEmail.On(personnel)
	return personnel, emails
}

// A list of all addresses, two at a time. Any process can read the page after a cursor.
func ExampleReader_Page() {
	ctx := context.Background()
	_, emails := newPersonnel(ctx)

	cursor := ""
	for {
		page, err := emails.Page(ctx, "Sales", secondaryindex.Values{}, cursor, &patterns.QueryOptions{Limit: 2})
		if err != nil {
			log.Fatal(err)
		}
		for _, e := range page.Entries {
			fmt.Println(e.Indexed, e.Value.LastName)
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
		fmt.Println("next page")
	}
	// Output:
	// jonesj@contoso.com Jones
	// kenk@contoso.com Kwok
	// next page
	// maryj@contoso.com Jones
}

// The index contains only last names, so the name is read from the entity.
func ExampleReader_GetFresh() {
	ctx := context.Background()
	personnel, emails := newPersonnel(ctx)

	item, freshness, err := emails.GetFresh(ctx, "Sales", "kenk@contoso.com", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item.Value.Name, "found by a copy that is", freshness)

	// A write without the store leaves a stale copy.
	if _, err := personnel.Table().Update(ctx, item.Key, func(p *Person) error { p.LastName = "Kwan"; return nil }); err != nil {
		log.Fatal(err)
	}
	item, freshness, err = emails.GetFresh(ctx, "Sales", "kenk@contoso.com", &secondaryindex.CheckOptions{Repair: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item.Value.LastName, "found by a copy that is", freshness)
	// Output:
	// Ken Kwok found by a copy that is fresh
	// Kwan found by a copy that is repaired
}
