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
	"log"

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

// Staff contains both types. Its functions take it and return results, and can be copied; only main knows the account.
type Staff = compoundkey.Family[Employee, Review]

// open declares the keys of both types, and creates the table if it does not exist.
func open(ctx context.Context, client *aztables.Client) (*Staff, error) {
	staff, err := compoundkey.New(client,
		func(e *Employee) compoundkey.ID { return compoundkey.ID{Partition: e.Department, Parent: e.ID} },
		func(r *Review) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: r.Department, Parent: r.EmployeeID}, r.Year
		}, nil)
	if err != nil {
		return nil, err
	}
	return staff, staff.Create(ctx)
}

// hire inserts an employee with reviews: one transaction.
func hire(ctx context.Context, staff *Staff, e *Employee, reviews ...*Review) error {
	_, err := staff.Insert(ctx, e, reviews...)
	return err
}

// comments reads the review of one year: a point read.
func comments(ctx context.Context, staff *Staff, id compoundkey.ID, year string) (string, error) {
	review, err := staff.Child(ctx, id, year)
	return review.Value.Comments, err
}

// ratings reads the ratings only, from a year on: a smaller range than all reviews, and less data.
func ratings(ctx context.Context, staff *Staff, id compoundkey.ID, year string) (ratings []int32, err error) {
	recent, only := compoundkey.Span{From: year}, &patterns.QueryOptions{Select: []string{"ManagerRating"}}
	for r, err := range staff.Children(ctx, id, recent, only) {
		if err != nil {
			return nil, err
		}
		ratings = append(ratings, r.Value.ManagerRating)
	}
	return ratings, nil
}

// review adds a review and counts it in the employee's row: one transaction, refused if the row was changed meanwhile.
func review(ctx context.Context, staff *Staff, e patterns.Item[Employee], r *Review) error {
	e.Value.Reviews++
	_, err := staff.Transaction().Parent(patterns.ReplaceOp(e)).Child(patterns.InsertOp(r)).Commit(ctx)
	return err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	staff, err := open(ctx, acct.TablesWith(&opts).NewClient("Staff"))
	if err == nil { // the id of this employee begins with that of the next
		err = hire(ctx, staff, &Employee{"Sales", "0001230", "Ann Beebe", 0})
	}
	if err != nil {
		log.Fatal(err)
	}
	ken := compoundkey.ID{Partition: "Sales", Parent: "000123"}
	var family compoundkey.Members[Employee, Review]
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"insert an employee with two reviews", func() (any, error) {
			return nil, hire(ctx, staff, &Employee{"Sales", "000123", "Ken Kwok", 2},
				&Review{"Sales", "000123", "2011", 3, "good"}, &Review{"Sales", "000123", "2012", 5, "very good"})
		}},
		{"read the review of 2012", func() (any, error) { return comments(ctx, staff, ken, "2012") }},
		{"read the employee and all reviews", func() (any, error) {
			if family, err = staff.Get(ctx, ken); err != nil { // a range, which does not contain the other employee
				return nil, err
			}
			return fmt.Sprintf("%s %d reviews", family.Parent.Value.Name, len(family.Children)), nil
		}},
		{"read the ratings from 2012 on", func() (any, error) { return ratings(ctx, staff, ken, "2012") }},
		{"add a review and count it", func() (any, error) {
			return nil, review(ctx, staff, *family.Parent, &Review{"Sales", "000123", "2013", 4, "good"})
		}},
		{"delete the employee and all reviews", func() (any, error) { return nil, staff.Delete(ctx, ken) }},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
