package entitytype_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// A partition contains employees, written by two releases of a program, and their
// department. One query returns all of them.
func Example() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Staff")

	type EmployeeV1 struct{ Name string }
	type Employee struct{ FirstName, LastName string }
	type Department struct{ EmployeeCount int32 }

	old, _ := entitytype.NewRegistry(nil)
	entitytype.Register[EmployeeV1](old, "Employee", 1, nil)
	before, _ := entitytype.New(client, old, nil)
	before.Create(ctx)
	before.Insert(ctx, keys.Key{Partition: "Sales", Row: "00010"}, &EmployeeV1{"Ken Kwok"})

	registry, _ := entitytype.NewRegistry(nil)
	entitytype.Register(registry, "Employee", 1, func(e EmployeeV1) (any, error) {
		first, last, _ := strings.Cut(e.Name, " ")
		return Employee{first, last}, nil
	})
	entitytype.Register[Employee](registry, "Employee", 2, nil)
	entitytype.Register[Department](registry, "Department", 1, nil)
	staff, err := entitytype.New(client, registry, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	staff.Insert(ctx, keys.Key{Partition: "Sales", Row: "00011"}, &Employee{"Ann", "Beebe"})
	staff.Insert(ctx, keys.Key{Partition: "Sales", Row: "Department"}, &Department{2})

	for e, err := range staff.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch v := e.Value.(type) {
		case *Employee:
			fmt.Printf("employee %s, %s (stored as version %d)\n", v.LastName, v.FirstName, e.Version)
		case *Department:
			fmt.Println("department of", v.EmployeeCount)
		case *entitytype.Unknown:
			fmt.Println("something else")
		}
	}
	// Output:
	// employee Kwok, Ken (stored as version 1)
	// employee Beebe, Ann (stored as version 2)
	// department of 2
}
