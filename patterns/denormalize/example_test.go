package denormalize_test

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The department's row tells its manager and the number of its employees.
func Example() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Staff")
	client.CreateTable(ctx, nil)

	type Employee struct {
		Department string `table:"PartitionKey"`
		ID         string `table:"RowKey"`
		Name       string
		IsManager  bool
	}
	type Manager struct{ ManagerName string }
	department := func(e *Employee) keys.Key { return keys.Key{Partition: e.Department, Row: "Department"} }

	boss, _ := denormalize.Into("manager", func(e *Employee) (keys.Key, Manager, bool) {
		return department(e), Manager{e.Name}, e.IsManager
	}, nil)
	count, _ := denormalize.Count("count", "EmployeeCount", func(e *Employee) (keys.Key, bool) { return department(e), true }, nil)
	table, _ := patterns.NewTable[Employee](client, nil)
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{boss, count}})
	if err != nil {
		fmt.Println(err)
		return
	}
	staff.Insert(ctx, &Employee{"Sales", "00010", "Ken Kwok", true})
	staff.Insert(ctx, &Employee{"Sales", "00011", "Ann Beebe", false})

	type Department struct {
		ManagerName   string
		EmployeeCount int64
	}
	departments, _ := patterns.NewTable(client, &patterns.TableOptions[Department]{Keyless: true})
	sales, err := departments.Get(ctx, keys.Key{Partition: "Sales", Row: "Department"})
	fmt.Println(sales.Value.ManagerName, sales.Value.EmployeeCount, err)
	// Output: Ken Kwok 2 <nil>
}
