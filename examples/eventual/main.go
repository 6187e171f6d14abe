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
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

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

// create makes the two tables and the two queues.
func create(ctx context.Context, service *aztables.ServiceClient, queue, poison *azqueue.QueueClient) (
	current, archive *patterns.Table[Employee], err error,
) {
	current, err1 := patterns.NewTable[Employee](service.NewClient("Current"), nil)
	archive, err2 := patterns.NewTable[Employee](service.NewClient("Archive"), nil)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	_, err1 = queue.Create(ctx, nil)
	_, err2 = poison.Create(ctx, nil)
	return current, archive, errors.Join(err1, err2, current.Create(ctx), archive.Create(ctx))
}

// request is what the client does: it only adds a message. The ETag identifies the version to archive.
func request(ctx context.Context, queue *azqueue.QueueClient, e patterns.Item[Employee]) error {
	row := eventual.Row{PartitionKey: e.Key.Partition, RowKey: e.Key.Row, ETag: e.ETag}
	return eventual.Enqueue(ctx, queue, "employee.archive", row, nil)
}

// newWorker returns the worker, which is usually another process: its Run processes messages until the context ends.
func newWorker(queue, poison *azqueue.QueueClient, current, archive *aztables.Client, observe func(eventual.Event)) (*eventual.Worker, error) {
	worker, err := eventual.NewWorker(queue, &eventual.Options{Poison: poison, Parallel: 1, Observe: observe})
	if err != nil {
		return nil, err
	}
	eventual.HandleMove(worker, "employee.archive", current, archive)
	return worker, nil
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url,
	// credential, nil), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	queue, poison := acct.Queue("jobs"), acct.Queue("jobs-poison")
	current, archive, err := create(ctx, acct.TablesWith(&opts), queue, poison)
	if err != nil {
		log.Fatal(err)
	}
	ken, err := current.Insert(ctx, &Employee{"Sales", "456", "Ken Kwok"})
	if err != nil {
		log.Fatal(err)
	}
	deliver := func() (outcome any, err error) { // here the worker ends after one message
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		worker, err := newWorker(queue, poison, current.Client(), archive.Client(), func(e eventual.Event) {
			outcome = e.Outcome
			stop()
		})
		if err != nil {
			return nil, err
		}
		acct.ResetLog()
		err = worker.Run(ctx)
		return outcome, err
	}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"add a message", func() (any, error) { return nil, request(ctx, queue, ken) }},
		{"the worker archives", deliver},
		{"read the archive", func() (any, error) {
			archived, err := archive.Get(ctx, ken.Key)
			return archived.Value.Name, err
		}},
		{"the message is delivered again", func() (any, error) { // the worker finds that the work is done
			if err := request(ctx, queue, ken); err != nil {
				return nil, err
			}
			return deliver()
		}},
		{"a late message, after he was hired again", func() (any, error) {
			// It names another version, so the new row stays, and the message is kept in the poison queue for a person to
			// look at.
			if _, err := current.Insert(ctx, &ken.Value); err != nil {
				return nil, err
			}
			if err := request(ctx, queue, ken); err != nil {
				return nil, err
			}
			return deliver()
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
