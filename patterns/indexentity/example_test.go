package indexentity_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is an entity that is found by last name.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	LastName   string
}

// newStaff returns the reader of the index of employees by last name.
func newStaff(ctx context.Context) *indexentity.Reader[Employee] {
	byName := indexentity.Intra("lastname", func(e *Employee) (string, bool) { return e.LastName, true }, nil)
	table, err := patterns.NewTable[Employee](storagetest.Start(nil).Tables().NewClient("Staff"), nil)
	if err != nil {
		log.Fatal(err)
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byName}})
	if err != nil {
		log.Fatal(err)
	}
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}
	for _, e := range []Employee{
		{"Sales", "000231", "Jones"}, {"Sales", "000152", "Jones"}, {"Sales", "000160", "Cao"}, {"Sales", "000300", "Jones"},
	} {
		if _, err := staff.Insert(ctx, &e); err != nil {
			log.Fatal(err)
		}
	}
	index := byName.On(staff)
	return index
}

// All employees of a department called Jones, without reading the department.
func Example() {
	ctx := context.Background()
	index := newStaff(ctx)

	members, err := index.Get(ctx, "Sales", "Jones")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(members), "members, the first is", members[0].Row)

	for item, err := range index.Query(ctx, "Sales", "Jones", nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Value.ID, item.Value.LastName)
	}
	// Output:
	// 3 members, the first is 000152
	// 000152 Jones
	// 000231 Jones
	// 000300 Jones
}

// Two employees at a time. Any process can read the page after a cursor.
func ExampleReader_Page() {
	ctx := context.Background()
	index := newStaff(ctx)

	cursor := ""
	for {
		page, err := index.Page(ctx, "Sales", "Jones", cursor, &patterns.QueryOptions{Limit: 2})
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range page.Items {
			fmt.Println(item.Value.ID)
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
		fmt.Println("next page")
	}
	// Output:
	// 000152
	// 000231
	// next page
	// 000300
}
