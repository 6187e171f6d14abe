package compoundkey_test

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// An employee and the employee's reviews are in one range of rows, which one request reads.
func Example() {
	ctx := context.Background()
	client := storagetest.Start(nil).Tables().NewClient("Staff")

	type Employee struct{ Department, ID, Name string }
	type Review struct {
		Department, EmployeeID, Year string
		ManagerRating                int32
	}
	staff, err := compoundkey.New(client,
		func(e *Employee) compoundkey.ID { return compoundkey.ID{Partition: e.Department, Parent: e.ID} },
		func(r *Review) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: r.Department, Parent: r.EmployeeID}, r.Year
		}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	staff.Create(ctx)
	_, err = staff.Insert(ctx, &Employee{"Sales", "000123", "Ken Kwok"},
		&Review{"Sales", "000123", "2011", 3}, &Review{"Sales", "000123", "2012", 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	staff.Insert(ctx, &Employee{"Sales", "0001230", "Ann Beebe"}, &Review{"Sales", "0001230", "2012", 4})

	family, err := staff.Get(ctx, compoundkey.ID{Partition: "Sales", Parent: "000123"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(family.Parent.Value.Name)
	for _, review := range family.Children {
		fmt.Println(review.Key.Row, review.Value.ManagerRating)
	}
	// Output:
	// Ken Kwok
	// 000123_2011 3
	// 000123_2012 5
}
