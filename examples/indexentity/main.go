// Command indexentity finds all employees with a last name: index entities, in the three variants of the guide.
//
// Problem: many employees share a last name, and a filter on it reads every employee of the partition, or of the table.
//
// Layout: for each last name, a list of the keys of the employees. It is stored in one of three places:
//
//	variant          list of Jones                  changes                        covers
//	same partition   Sales/lastname_Jones           in the employee's transaction  one department
//	other partition  lastname_/Jones                through the outbox             the company, up to 1 MiB
//	blob             lastname/Jones.json            through the outbox             the company, any length
//
// Use it for values that many entities share. A lookup reads the list, and then each of the employees. The outbox needs a
// worker: see secondaryindex/inter.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the entity.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	LastName   string
}

func lastName(e *Employee) (string, bool) { return e.LastName, e.LastName != "" }

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	for _, variant := range []string{"same partition", "other partition", "blob"} {
		fmt.Fprintf(w, "%s:\n", variant)
		if err := try(w, variant); err != nil {
			return fmt.Errorf("%s: %w", variant, err)
		}
	}
	return nil
}

func try(w io.Writer, variant string) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), acct.Container by container.NewClient(url, credential, nil), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service, queue, blobs := acct.TablesWith(&opts), acct.Queue("outbox"), acct.Container("lists")
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		slices.Sort(ops) // some are concurrent
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the entity, the index, and the store that keeps the index up to date.
	table, err := patterns.NewTable[Employee](service.NewClient("Staff"), nil)
	if err != nil {
		return err
	}
	outbox, err := eventual.NewOutbox(queue, "staff", nil)
	if err != nil {
		return err
	}
	var byName *indexentity.Index[Employee]
	switch variant {
	case "same partition":
		byName = indexentity.Intra("lastname", lastName, nil) // needs no outbox
	case "other partition":
		byName = indexentity.Inter("lastname", nil, lastName, nil) // nil: in the same table
	case "blob":
		byName = indexentity.InterBlob("lastname", blobs, lastName, nil)
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{
		Views: []patterns.View[Employee]{byName}, Outbox: outbox,
	})
	if err != nil {
		return err
	}
	index := byName.On(staff)
	if err := staff.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()

	// 2. Insert: the list is read, and written under the version that was read, so that no concurrent change is lost.
	for _, id := range []string{"000152", "000231"} {
		if _, err := staff.Insert(ctx, &Employee{"Sales", id, "Jones"}); err != nil {
			return err
		}
		show("insert " + id)
	}

	// 3. Look up the list: the keys of all employees called Jones.
	members, err := index.Get(ctx, "Sales", "Jones")
	if err != nil {
		return err
	}
	show("list the keys of Jones", len(members), "keys")

	// 4. Read the employees: the list, and then a point read of each, some concurrently.
	var found []string
	for item, err := range index.Query(ctx, "Sales", "Jones", nil) {
		if err != nil {
			return err
		}
		found = append(found, item.Value.ID)
	}
	show("read the employees called Jones", found)

	// 5. Change a last name: the employee leaves one list and enters another.
	_, err = staff.Update(ctx, keys.Key{Partition: "Sales", Row: "000231"}, func(e *Employee) error {
		e.LastName = "Smith"
		return nil
	})
	if err != nil {
		return err
	}
	show("change a last name")
	return nil
}
