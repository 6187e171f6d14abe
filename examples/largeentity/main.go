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
	"fmt"
	"io"
	"log"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

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

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), acct.Container by container.NewClient(url, credential, nil), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service, queue, photos := acct.TablesWith(&opts), acct.Queue("jobs"), acct.Container("photos")
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the table, the container, and the queue for blobs to check.
	outbox, err := eventual.NewOutbox(queue, "photos", nil)
	if err != nil {
		return err
	}
	staff, err := largeentity.New(service.NewClient("Employees"), photos, &largeentity.Options[Employee]{Outbox: outbox})
	if err != nil {
		return err
	}
	if _, err := queue.Create(ctx, nil); err != nil {
		return err
	}
	if err := staff.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()

	// 2. Insert: the message, then the blob, then the row. The first write of a program also reads the service's time.
	_, err = staff.Insert(ctx, &Employee{"Sales", "jonesj@contoso.com", "Jim Jones", make([]byte, 300_000)})
	if err != nil {
		return err
	}
	show("insert an employee")
	key := keys.Key{Partition: "Sales", Row: "jonesj@contoso.com"}

	// 3. Read the row without the photo, for example for a list.
	row, err := staff.GetMeta(ctx, key)
	if err != nil {
		return err
	}
	photo, _ := row.Blob("Photo")
	show("read the row", "the photo has", photo.Length, "bytes,", len(row.Value.Photo), "were read")

	// 4. Read the employee with the photo.
	jim, err := staff.Get(ctx, key)
	if err != nil {
		return err
	}
	show("read the employee with the photo", len(jim.Value.Photo), "bytes were read")

	// 5. Change the name: the photo is not uploaded again.
	jim.Value.Name = "Jim Jones-Smith"
	if jim, err = staff.Replace(ctx, jim); err != nil {
		return err
	}
	show("change the name")

	// 6. Change the photo: it is stored in a new blob. A reader of the old row still finds the old photo.
	jim.Value.Photo = make([]byte, 400_000)
	if jim, err = staff.Replace(ctx, jim); err != nil {
		return err
	}
	show("change the photo")

	// 7. Delete the employee. After a grace time, a day by default, the worker deletes both blobs.
	if err := staff.Delete(ctx, key, jim.ETag); err != nil {
		return err
	}
	show("delete the employee")

	// 8. A sweep finds blobs without a row. These are too young to be deleted.
	report, err := staff.Sweep(ctx, &largeentity.SweepOptions{DryRun: true})
	if err != nil {
		return err
	}
	show("sweep", report.Blobs, "blobs,", report.Deleted, "to delete")
	return nil
}
