// Command inter finds employees by badge in the whole company: the inter-partition secondary index.
//
// Problem: as in secondaryindex/intra, but the copies cannot be in the partition of the employee: it would have too
// much traffic, or the value is looked up without knowing the department.
//
// Layout: a copy of the employee in a partition of its own, which may be in another table or account. No transaction
// covers both rows, so the store writes the copy through an outbox: a message in a queue, and a row in the transaction
// of the employee. If the process dies, a worker completes the change: an eventual.Worker with eventual.HandleOutbox,
// which each program can run in a goroutine.
//
//	Table      PartitionKey  RowKey  Properties
//	Employees  Sales         000223  Name, Badge
//	Badges     badge         B-17    the same, azp_pk and azp_rk (the key of the employee), azp_view
//
// Use it if readers accept that a copy can be out of date for a moment. The employee's own row is always correct.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the entity.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	Badge      string
}

// newStaff declares the tables, and returns what changes the employees and what reads the index.
func newStaff(
	employees, badges *aztables.Client, queue *azqueue.QueueClient,
) (*patterns.Store[Employee], *secondaryindex.Reader[Employee], error) {
	table, err1 := patterns.NewTable[Employee](employees, nil)
	outbox, err2 := eventual.NewOutbox(queue, "staff", nil)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	byBadge := secondaryindex.Inter("badge", badges, func(e *Employee) (string, bool) { return e.Badge, e.Badge != "" },
		&secondaryindex.Options[Employee]{Partition: func(_, _ string) string { return "badge" }})
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byBadge}, Outbox: outbox})
	return staff, byBadge.On(staff), err
}

// takenIn returns the index by which an employee was refused, because one of any department has the value.
func takenIn(refused error) (index string, err error) {
	var duplicate *patterns.DuplicateError
	if errors.As(refused, &duplicate) {
		return duplicate.View, nil
	}
	return "", refused
}

// rebadge changes the badge: the new copy is inserted before the old one is deleted.
func rebadge(ctx context.Context, staff *patterns.Store[Employee], e patterns.Item[Employee], badge string) error {
	_, err := staff.UpdateItem(ctx, e, func(e *Employee) error {
		e.Badge = badge
		return nil
	})
	return err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	staff, byBadge, err := newStaff(service.NewClient("Employees"), service.NewClient("Badges"), acct.Queue("outbox"))
	if err != nil {
		log.Fatal(err)
	}
	var jim patterns.Item[Employee]
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"create the tables and the queue", func() (any, error) { return nil, staff.Create(ctx) }},
		{"insert an employee", func() (_ any, err error) {
			// The badge is reserved first, because it is unique. Then the employee is inserted together with the outbox
			// row, the copy is written, and the outbox row and the message are deleted.
			jim, err = staff.Insert(ctx, &Employee{"Sales", "000223", "Jim Jones", "B-17"})
			return nil, err
		}},
		{"find by badge", func() (any, error) { // a point read of the copy, which can be out of date
			copied, err := byBadge.Get(ctx, "", "B-17")
			return copied.Value.Name + " in " + copied.Primary.Partition, err
		}},
		{"find by badge, checked", func() (any, error) { // also reads the employee's own row, which is always correct
			_, freshness, err := byBadge.GetFresh(ctx, "", "B-17", nil)
			return fmt.Sprint("the copy is ", freshness), err
		}},
		{"change a badge", func() (any, error) { return nil, rebadge(ctx, staff, jim, "B-18") }},
		{"insert with a badge that is taken", func() (any, error) {
			_, err := staff.Insert(ctx, &Employee{"Marketing", "000001", "Don Hall", "B-18"})
			index, err := takenIn(err)
			return "refused by the index " + index, err
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		ops := acct.Log().Ops()
		slices.Sort(ops) // some are concurrent
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(ops), ops)
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
