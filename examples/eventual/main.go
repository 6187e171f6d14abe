// Command eventual archives an employee: an eventually consistent transaction.
//
// Problem: "archive employee 456" inserts into one table and deletes from another. There is no transaction over two
// tables, and a process can die between the two requests.
//
// Layout: the intent is stored first, as a message in a queue. A worker carries out the steps and deletes the message
// last. After a crash the message becomes visible again, and a worker repeats all steps, each of which is idempotent.
//
//	client  1 add the message "archive Sales/456"
//	worker  2 receive the message: it is hidden for a time, not deleted
//	        3 read the row from Current
//	        4 store it in Archive
//	        5 delete it from Current, if it is still the version of the message
//	        6 delete the message
//
// Use it for changes over partitions, tables, accounts or services. Between the steps, readers see that some are done.
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
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is the type of the rows in Current and Archive.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
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
	service, queue, poison := acct.TablesWith(&opts), acct.Queue("jobs"), acct.Queue("jobs-poison")
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. The two tables and the two queues.
	current, err := patterns.NewTable[Employee](service.NewClient("Current"), nil)
	if err != nil {
		return err
	}
	archive, err := patterns.NewTable[Employee](service.NewClient("Archive"), nil)
	if err != nil {
		return err
	}
	for _, create := range []func(context.Context) error{
		current.Create,
		archive.Create,
		func(ctx context.Context) error { _, err := queue.Create(ctx, nil); return err },
		func(ctx context.Context) error { _, err := poison.Create(ctx, nil); return err },
	} {
		if err := create(ctx); err != nil {
			return err
		}
	}
	key := keys.Key{Partition: "Sales", Row: "456"}
	ken, err := current.Insert(ctx, &Employee{key.Partition, key.Row, "Ken Kwok"})
	if err != nil {
		return err
	}
	acct.ResetLog()

	// 2. The client only adds a message. The ETag identifies the version to archive.
	message := eventual.Row{PartitionKey: key.Partition, RowKey: key.Row, ETag: ken.ETag}
	if err := eventual.Enqueue(ctx, queue, "employee.archive", message, nil); err != nil {
		return err
	}
	show("add a message")

	// 3. The worker is usually another process. Here it runs until it has processed one message.
	work := func(step string) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		worker, err := eventual.NewWorker(queue, &eventual.Options{
			Poison:   poison,
			Parallel: 1,
			Observe: func(e eventual.Event) {
				show(step, e.Outcome)
				stop()
			},
		})
		if err != nil {
			return err
		}
		eventual.HandleMove(worker, "employee.archive", current.Client(), archive.Client())
		return worker.Run(ctx)
	}
	if err := work("the worker archives"); err != nil {
		return err
	}
	acct.ResetLog()
	archived, err := archive.Get(ctx, key)
	if err != nil {
		return err
	}
	show("read the archive", archived.Value.Name)

	// 4. A message can be delivered twice. The worker finds that the work is done.
	if err := eventual.Enqueue(ctx, queue, "employee.archive", message, nil); err != nil {
		return err
	}
	acct.ResetLog()
	if err := work("the message is delivered again"); err != nil {
		return err
	}

	// 5. Ken is hired again, and then a late copy of the message arrives. It names another version, so the new row
	// stays, and the message is kept in the poison queue for a person to look at.
	if _, err := current.Insert(ctx, &Employee{key.Partition, key.Row, "Ken Kwok"}); err != nil {
		return err
	}
	if err := eventual.Enqueue(ctx, queue, "employee.archive", message, nil); err != nil {
		return err
	}
	acct.ResetLog()
	return work("a late message, after he was hired again")
}
