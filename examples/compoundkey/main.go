// Command compoundkey reads an employee together with the employee's reviews: the compound key pattern.
//
// Problem: reviews in a table of their own need a second request, and cannot change in one transaction with the
// employee.
//
// Layout: the reviews are in the partition of the employee, under row keys that begin with the id of the employee. One
// range of row keys contains the employee and all reviews.
//
//	PartitionKey  RowKey       Properties
//	Sales         000123_      Department, ID, Name, Reviews
//	Sales         000123_2011  Department, EmployeeID, Year, ManagerRating, Comments
//	Sales         000123_2012  Department, EmployeeID, Year, ManagerRating, Comments
//
// Use it for related rows that are often read with their owner.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the parent.
type Employee struct {
	Department, ID, Name string
	Reviews              int32
}

// Review is a child.
type Review struct {
	Department, EmployeeID, Year string
	ManagerRating                int32
	Comments                     string
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

	// 1. Declare the keys of both types.
	staff, err := compoundkey.New(service.NewClient("Staff"),
		func(e *Employee) compoundkey.ID { return compoundkey.ID{Partition: e.Department, Parent: e.ID} },
		func(r *Review) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: r.Department, Parent: r.EmployeeID}, r.Year
		}, nil)
	if err != nil {
		return err
	}
	if err := staff.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()

	// 2. Insert an employee with two reviews: one transaction. The id of the second employee begins with the first id.
	_, err = staff.Insert(ctx, &Employee{"Sales", "000123", "Ken Kwok", 2},
		&Review{"Sales", "000123", "2011", 3, "good"}, &Review{"Sales", "000123", "2012", 5, "very good"})
	if err != nil {
		return err
	}
	show("insert an employee with two reviews")
	if _, err := staff.Insert(ctx, &Employee{"Sales", "0001230", "Ann Beebe", 0}); err != nil {
		return err
	}
	acct.ResetLog()

	// 3. Read the review of one year: a point read.
	ken := compoundkey.ID{Partition: "Sales", Parent: "000123"}
	review, err := staff.Child(ctx, ken, "2012")
	if err != nil {
		return err
	}
	show("read the review of 2012", review.Value.Comments)

	// 4. Read the employee and all reviews: a range, which does not contain the other employee.
	family, err := staff.Read(ctx, ken)
	if err != nil {
		return err
	}
	show("read the employee and all reviews", family.Parent.Value.Name, len(family.Children), "reviews")

	// 5. Read the ratings only, from 2012 on: a smaller range and less data.
	var ratings []int32
	recent, only := compoundkey.Span{From: "2012"}, &patterns.QueryOptions{Select: []string{"ManagerRating"}}
	for r, err := range staff.Children(ctx, ken, recent, only) {
		if err != nil {
			return err
		}
		ratings = append(ratings, r.Value.ManagerRating)
	}
	show("read the ratings from 2012 on", ratings)

	// 6. Add a review and count it in the employee's row: one transaction, refused if the row was changed meanwhile.
	parent := *family.Parent
	parent.Value.Reviews++
	_, err = staff.Transaction().
		Parent(patterns.ReplaceOp(parent)).
		Child(patterns.InsertOp(&Review{"Sales", "000123", "2013", 4, "good"})).
		Commit(ctx)
	if err != nil {
		return err
	}
	show("add a review and count it")

	// 7. Delete the employee and all reviews.
	if err := staff.Delete(ctx, ken); err != nil {
		return err
	}
	show("delete the employee and all reviews")
	return nil
}
