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
	"io"
	"log"
	"os"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

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

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service, queue := acct.TablesWith(&opts), acct.Queue("outbox")
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		slices.Sort(ops) // some are concurrent
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the entity, the index, the outbox, and the store that keeps the index up to date.
	table, err := patterns.NewTable[Employee](service.NewClient("Employees"), nil)
	if err != nil {
		return err
	}
	badges := service.NewClient("Badges")
	byBadge := secondaryindex.Inter("badge", badges,
		func(e *Employee) (string, bool) { return e.Badge, e.Badge != "" },
		&secondaryindex.Options[Employee]{Partition: func(_, _ string) string { return "badge" }})
	outbox, err := eventual.NewOutbox(queue, "staff", nil)
	if err != nil {
		return err
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views:  []patterns.View[Employee]{byBadge},
		Outbox: outbox,
	})
	if err != nil {
		return err
	}
	index := byBadge.On(staff)
	if err := staff.Create(ctx); err != nil {
		return err
	}
	show("create the tables and the queue")

	// 2. Insert: the badge is reserved first, because it is unique; then the employee is inserted together with the
	// outbox row, then the copy is written, and the outbox row and the message are deleted.
	jim, err := staff.Insert(ctx, &Employee{"Sales", "000223", "Jim Jones", "B-17"})
	if err != nil {
		return err
	}
	show("insert an employee")

	// 3. Find by badge: a point read of the copy. It can be out of date.
	copied, err := index.Get(ctx, "", "B-17")
	if err != nil {
		return err
	}
	show("find by badge", copied.Value.Name, "in", copied.Primary.Partition)

	// 4. Find the employee itself: a second point read, of the employee's row, which is always correct.
	_, freshness, err := index.GetFresh(ctx, "", "B-17", nil)
	if err != nil {
		return err
	}
	show("find by badge, checked", "the copy is", freshness)

	// 5. Change the badge: the new copy is inserted before the old one is deleted.
	jim, err = staff.UpdateItem(ctx, jim, func(e *Employee) error {
		e.Badge = "B-18"
		return nil
	})
	if err != nil {
		return err
	}
	show("change a badge")

	// 6. A badge that an employee of any department has is refused.
	_, err = staff.Insert(ctx, &Employee{"Marketing", "000001", "Don Hall", jim.Value.Badge})
	var duplicate *patterns.DuplicateError
	if !errors.As(err, &duplicate) {
		return fmt.Errorf("a second employee with the badge: %w", err)
	}
	show("insert with a badge that is taken", "refused by the index", duplicate.View)
	return nil
}
