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
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

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

// newStaff declares the table and its index, and returns what changes the employees and what reads the index.
func newStaff(client *aztables.Client, queue *azqueue.QueueClient, byName *indexentity.Index[Employee]) (
	*patterns.Store[Employee], *indexentity.Reader[Employee], error,
) {
	table, err1 := patterns.NewTable[Employee](client, nil)
	outbox, err2 := eventual.NewOutbox(queue, "staff", nil)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	staff, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byName}, Outbox: outbox})
	return staff, byName.On(staff), err
}

// hire reads the list and writes it under the version that was read, so that no concurrent change is lost.
func hire(ctx context.Context, staff *patterns.Store[Employee], e *Employee) error {
	_, err := staff.Insert(ctx, e)
	return err
}

// called reads the employees with a last name: the list, and then a point read of each, some concurrently.
func called(ctx context.Context, index *indexentity.Reader[Employee], department, name string) (ids []string, err error) {
	for item, err := range index.Query(ctx, department, name, nil) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, item.Value.ID)
	}
	return ids, nil
}

// rename changes a last name: the employee leaves one list and enters another.
func rename(ctx context.Context, staff *patterns.Store[Employee], key keys.Key, name string) error {
	_, err := staff.Update(ctx, key, func(e *Employee) error {
		e.LastName = name
		return nil
	})
	return err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), acct.Container by container.NewClient(url, credential, nil), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	for _, variant := range []struct {
		name, table string
		byName      *indexentity.Index[Employee]
	}{
		{"same partition", "Staff1", indexentity.Intra("lastname", lastName, nil)},       // needs no outbox
		{"other partition", "Staff2", indexentity.Inter("lastname", nil, lastName, nil)}, // nil: in the same table
		{"blob", "Staff3", indexentity.InterBlob("lastname", acct.Container("lists"), lastName, nil)},
	} {
		fmt.Println(variant.name + ":")
		staff, index, err := newStaff(acct.TablesWith(&opts).NewClient(variant.table), acct.Queue("outbox"), variant.byName)
		if err == nil {
			err = staff.Create(ctx)
		}
		if err != nil {
			log.Fatal(err)
		}
		for _, step := range []struct {
			name string
			do   func() (any, error)
		}{
			{"insert 000152", func() (any, error) { return nil, hire(ctx, staff, &Employee{"Sales", "000152", "Jones"}) }},
			{"insert 000231", func() (any, error) { return nil, hire(ctx, staff, &Employee{"Sales", "000231", "Jones"}) }},
			{"list the keys of Jones", func() (any, error) {
				members, err := index.Get(ctx, "Sales", "Jones")
				return fmt.Sprint(len(members), " keys"), err
			}},
			{"read the employees called Jones", func() (any, error) { return called(ctx, index, "Sales", "Jones") }},
			{"change a last name", func() (any, error) {
				return nil, rename(ctx, staff, keys.Key{Partition: "Sales", Row: "000231"}, "Smith")
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
}
