// Command largeentity stores employees with their photos: the large entities pattern.
//
// Problem: a property has at most 64 KiB and a row at most 1 MiB. A photo is larger.
//
// Layout: the photo is stored in a blob, under a new unique name, and the row refers to it.
//
//	PartitionKey  RowKey              Properties
//	Sales         jonesj@contoso.com  Name, azp_blobs={"version":1,"blobs":{"Photo":{"name":"employees/0b4f6d1e-…",…}}}
//
// The blob is written before the row, and deleted after it. So a process that dies in between leaves a blob that no row
// refers to, and never a row without its blob. A message that is put in a queue before the change names the blobs to
// check; a sweep finds those for which there is no message.
//
// Use it for values beyond the limits of a property. The larger program examples/photos also runs the worker.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is one row, and a blob if the photo is large.
type Employee struct {
	Department string `table:"PartitionKey"`
	Email      string `table:"RowKey"`
	Name       string
	Photo      []byte `table:",blob"`
}

// open declares the table, the container and the queue for blobs to check, and creates them.
func open(
	ctx context.Context, client *aztables.Client, photos *container.Client, queue *azqueue.QueueClient,
) (*largeentity.Table[Employee], error) {
	outbox, err := eventual.NewOutbox(queue, "photos", nil)
	if err != nil {
		return nil, err
	}
	staff, err := largeentity.New(client, photos, &largeentity.Options[Employee]{Outbox: outbox})
	if err != nil {
		return nil, err
	}
	_, err = queue.Create(ctx, nil)
	return staff, errors.Join(err, staff.Create(ctx))
}

// rename changes the name: the photo is not uploaded again.
func rename(ctx context.Context, staff *largeentity.Table[Employee], e largeentity.Item[Employee], name string) (largeentity.Item[Employee], error) {
	e.Value.Name = name
	return staff.Replace(ctx, e)
}

// portray stores the photo in a new blob. A reader of the old row still finds the old photo.
func portray(ctx context.Context, staff *largeentity.Table[Employee], e largeentity.Item[Employee], photo []byte) (largeentity.Item[Employee], error) {
	e.Value.Photo = photo
	return staff.Replace(ctx, e)
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), acct.Container by container.NewClient(url, credential, nil), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	staff, err := open(ctx, acct.TablesWith(&opts).NewClient("Employees"), acct.Container("photos"), acct.Queue("jobs"))
	if err != nil {
		log.Fatal(err)
	}
	key := keys.Key{Partition: "Sales", Row: "jonesj@contoso.com"}
	var jim largeentity.Item[Employee]
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"insert an employee", func() (any, error) {
			// The message, then the blob, then the row. The first write of a program also reads the service's time.
			_, err := staff.Insert(ctx, &Employee{key.Partition, key.Row, "Jim Jones", make([]byte, 300_000)})
			return nil, err
		}},
		{"read the row", func() (any, error) { // without the photo, for example for a list
			row, err := staff.GetMeta(ctx, key)
			photo, _ := row.Blob("Photo")
			return fmt.Sprintf("the photo has %d bytes, %d were read", photo.Length, len(row.Value.Photo)), err
		}},
		{"read the employee with the photo", func() (_ any, err error) {
			jim, err = staff.Get(ctx, key)
			return fmt.Sprint(len(jim.Value.Photo), " bytes were read"), err
		}},
		{"change the name", func() (_ any, err error) {
			jim, err = rename(ctx, staff, jim, "Jim Jones-Smith")
			return nil, err
		}},
		{"change the photo", func() (_ any, err error) {
			jim, err = portray(ctx, staff, jim, make([]byte, 400_000))
			return nil, err
		}},
		// After a grace time, a day by default, the worker deletes both blobs.
		{"delete the employee", func() (any, error) { return nil, staff.Delete(ctx, key, jim.ETag) }},
		{"sweep", func() (any, error) { // finds blobs without a row; these are too young to be deleted
			report, err := staff.Sweep(ctx, &patterns.SweepOptions{DryRun: true})
			return fmt.Sprint(report.Found, " blobs, ", report.Done-report.Marked, " to delete"), err
		}},
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
