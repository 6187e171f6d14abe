package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// newQueue creates a queue in the in-process account.
func newQueue(acct *storagetest.Account, name string) *azqueue.QueueClient {
	queue := acct.Queue(name)
	if _, err := queue.Create(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	return queue
}

// Employee is the type of the rows in the tables Current and Archive.
type Employee struct {
	PartitionKey, RowKey string
	Name                 string
}

// The example of the design guide: an employee who leaves is moved to another table.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	acct := storagetest.Start(nil)
	queue := newQueue(acct, "jobs")
	current, err := patterns.NewTable[Employee](acct.Tables().NewClient("Current"), nil)
	if err != nil {
		log.Fatal(err)
	}
	archive, err := patterns.NewTable[Employee](acct.Tables().NewClient("Archive"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(current.Create(ctx), archive.Create(ctx)); err != nil {
		log.Fatal(err)
	}
	ken, err := current.Insert(ctx, &Employee{"Sales", "456", "Ken Kwok"})
	if err != nil {
		log.Fatal(err)
	}

	// The client only adds a message. The ETag identifies the version to archive: if the
	// message is delivered late, an employee who was hired again is not archived.
	row := eventual.Row{PartitionKey: "Sales", RowKey: "456", ETag: ken.ETag}
	if err := eventual.Enqueue(ctx, queue, "employee.archive", row, nil); err != nil {
		log.Fatal(err)
	}

	w, err := eventual.NewWorker(queue, &eventual.Options{
		Poison:  acct.Queue("jobs-poison"),
		Observe: func(e eventual.Event) { fmt.Println(e.Kind, e.Outcome); stop() },
	})
	if err != nil {
		log.Fatal(err)
	}
	eventual.HandleMove(w, "employee.archive", current.Client(), archive.Client())
	if err := w.Run(ctx); err != nil { // returns after stop is called
		log.Fatal(err)
	}

	ctx = context.Background()
	_, err = current.Get(ctx, ken.Key)
	fmt.Println("in Current:", err)
	item, err := archive.Get(ctx, ken.Key)
	fmt.Println("in Archive:", item.Value.Name, err)
	// Output:
	// employee.archive done
	// in Current: get: not found (404 ResourceNotFound)
	// in Archive: Ken Kwok <nil>
}

// A handler receives the message as a Go value. Its result decides what happens to the
// message.
func ExampleHandle() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	acct := storagetest.Start(nil)
	queue := newQueue(acct, "jobs")

	type Letter struct{ To, Text string }
	w, err := eventual.NewWorker(queue, &eventual.Options{
		Observe: func(e eventual.Event) {
			fmt.Println("attempt", e.Attempt, e.Outcome)
			if e.Outcome == eventual.Done {
				stop()
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	printerReady := false
	eventual.Handle(w, "letter.send", func(ctx context.Context, job eventual.Job[Letter]) error {
		if !printerReady {
			printerReady = true
			return eventual.Snooze(0) // not a failed attempt
		}
		fmt.Println("Dear", job.Message.To)
		return nil
	})

	if err := eventual.Enqueue(ctx, queue, "letter.send", Letter{To: "Jun Cao"}, nil); err != nil {
		log.Fatal(err)
	}
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// attempt 1 snoozed
	// Dear Jun Cao
	// attempt 1 done
}

// Messages that could not be processed are kept in the poison queue, with the reason,
// until they are replayed or discarded.
func ExamplePoisonQueue() {
	ctx, stop := context.WithCancel(context.Background())
	acct := storagetest.Start(nil)
	queue := newQueue(acct, "jobs")
	w, err := eventual.NewWorker(queue, &eventual.Options{
		Poison:  acct.Queue("jobs-poison"), // created when it is first needed
		Observe: func(eventual.Event) { stop() },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := eventual.Enqueue(ctx, queue, "parcel.send", 7, nil); err != nil {
		log.Fatal(err)
	}
	if err := w.Run(ctx); err != nil { // no handler is registered for that kind
		log.Fatal(err)
	}

	ctx = context.Background()
	poison, err := w.PoisonQueue()
	if err != nil {
		log.Fatal(err)
	}
	for message, err := range poison.Take(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s: %s\n", message.Kind, message.Payload, message.Reason)
		if err := poison.Replay(ctx, message); err != nil { // for example after a worker with the handler was deployed
			log.Fatal(err)
		}
	}
	left, err := poison.Peek(ctx, 32)
	fmt.Println(len(left), "left", err)
	// Output:
	// parcel.send 7: no handler for kind "parcel.send"
	// 0 left <nil>
}

// A payload that does not fit into a message is stored in a blob.
func ExampleEnqueue() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	queue := newQueue(acct, "jobs")
	payloads := acct.Container("payloads")
	if _, err := payloads.Create(ctx, nil); err != nil {
		log.Fatal(err)
	}
	report := make([]byte, 1<<20)

	err := eventual.Enqueue(ctx, queue, "report.print", report, nil)
	fmt.Println(errors.Is(err, patterns.ErrTooLarge))

	acct.ResetLog()
	err = eventual.Enqueue(ctx, queue, "report.print", report, &eventual.EnqueueOptions{Container: payloads})
	fmt.Println(err, acct.Log().Ops())
	// Output:
	// true
	// <nil> [Blob.Put Queue.Put]
}

// A scaler counts the work queue, which is empty when the work is done. Late checks of
// finished operations wait on a queue of their own, whose worker may run rarely.
func ExampleHandleOutbox() {
	ctx, stop := context.WithCancel(context.Background())
	acct := storagetest.Start(nil)
	work, late := newQueue(acct, "work"), newQueue(acct, "late")
	outbox, err := eventual.NewOutbox(work, "staff", nil)
	if err != nil {
		log.Fatal(err)
	}
	table, err := patterns.NewTable[Employee](acct.Tables().NewClient("Staff"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Outbox: outbox})
	if err != nil {
		log.Fatal(err)
	}

	// A process dies after it has added the outbox message of an operation.
	if _, err := outbox.Put(ctx, patterns.OutboxMessage{Partition: "Sales", ID: "op"}, 0); err != nil {
		log.Fatal(err)
	}

	// This worker is started and stopped by the scaler.
	w, err := eventual.NewWorker(work, &eventual.Options{
		LateChecks: late,
		Observe:    func(e eventual.Event) { fmt.Println(e.Outcome); stop() },
	})
	if err != nil {
		log.Fatal(err)
	}
	eventual.HandleOutbox(w, "staff", store)
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}

	for _, queue := range []*azqueue.QueueClient{work, late} {
		p, err := queue.GetProperties(context.Background(), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(*p.ApproximateMessagesCount, "messages, visible or hidden")
	}
	// Output:
	// snoozed
	// 0 messages, visible or hidden
	// 1 messages, visible or hidden
}
