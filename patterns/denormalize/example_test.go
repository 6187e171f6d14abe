package denormalize_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The department's row contains its manager and the number of its employees.
func Example() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Staff")

	type Employee struct {
		Department string `table:"PartitionKey"`
		ID         string `table:"RowKey"`
		Name       string
		IsManager  bool
	}
	type Manager struct{ ManagerName string }
	department := func(e *Employee) keys.Key { return keys.Key{Partition: e.Department, Row: "Department"} }

	boss := denormalize.Intra("manager", denormalize.Into(func(e *Employee) (keys.Key, Manager, bool) {
		return department(e), Manager{e.Name}, e.IsManager
	}), nil)
	count := denormalize.Intra("count", denormalize.Count("EmployeeCount", func(e *Employee) (keys.Key, bool) { return department(e), true }), nil)
	table, err := patterns.NewTable[Employee](client, nil)
	if err != nil {
		log.Fatal(err)
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{boss, count}})
	if err != nil {
		log.Fatal(err)
	}
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}
	for _, e := range []Employee{{"Sales", "00010", "Ken Kwok", true}, {"Sales", "00011", "Ann Beebe", false}} {
		if _, err := staff.Insert(ctx, &e); err != nil {
			log.Fatal(err)
		}
	}

	type Department struct {
		ManagerName   string
		EmployeeCount int64
	}
	departments, err := patterns.NewTable(client, &patterns.TableOptions[Department]{Keyless: true})
	if err != nil {
		log.Fatal(err)
	}
	sales, err := departments.Get(ctx, keys.Key{Partition: "Sales", Row: "Department"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sales.Value.ManagerName, sales.Value.EmployeeCount)
	// Output: Ken Kwok 2
}
