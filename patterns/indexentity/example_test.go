package indexentity_test

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// All employees of a department called Jones, without reading the department.
func Example() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Staff")
	client.CreateTable(ctx, nil)

	type Employee struct {
		Department string `table:"PartitionKey"`
		ID         string `table:"RowKey"`
		LastName   string
	}
	byName, err := indexentity.SamePartition("lastname", func(e *Employee) (string, bool) { return e.LastName, true })
	if err != nil {
		fmt.Println(err)
		return
	}
	table, _ := patterns.NewTable[Employee](client, nil)
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byName}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range []Employee{{"Sales", "000231", "Jones"}, {"Sales", "000152", "Jones"}, {"Sales", "000160", "Cao"}} {
		if _, err := staff.Insert(ctx, &e); err != nil {
			fmt.Println(err)
			return
		}
	}

	index, _ := byName.On(staff)
	for item, err := range index.Entities(ctx, "Sales", "Jones") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Value.ID, item.Value.LastName)
	}
	// Output:
	// 000152 Jones
	// 000231 Jones
}
