// Command queuejob processes the jobs of a queue until it is empty, and then ends: a job
// that a scaler starts, such as a ScaledJob of KEDA or a job of Azure Container Apps.
//
// Problem: work comes in bursts, and no worker is to run in between.
//
// Solution: the scaler counts the messages of the queue, visible and hidden. So does this
// program, and it ends when there are none. Messages that are hidden for long would keep it
// running: the late checks of a Store, an hour after a change, are on a queue of their own.
// A schedule starts the program for them, once a day: with -late, it ends when no message of
// that queue is visible.
//
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/queuejob
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/queuejob -late
//
// A job that is killed loses nothing: its messages become visible to the next one. scaledjob.yaml
// is the manifest for KEDA. A test replays the scaler's requests, and starts the jobs that it would
// start; KEDA itself does not run in it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// Employee has an index by last name in other partitions.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Last       string
}

// Letter is the payload of the jobs of the kind "letter.send".
type Letter struct{ To, Text string }

func main() {
	late := flag.Bool("late", false, "carry out late checks")
	longest := flag.Duration("longest", time.Hour, "end after this `time`, even if the queue is not empty")
	flag.Parse()
	var tableOpts aztables.ClientOptions
	patterns.Accelerate(&tableOpts.ClientOptions)
	var queueOpts azqueue.ClientOptions
	patterns.LimitReplies(&queueOpts.ClientOptions)
	connection := os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	queues, err := azqueue.NewServiceClientFromConnectionString(connection, &queueOpts)
	check(err)
	tables, err := aztables.NewServiceClientFromConnectionString(connection, &tableOpts)
	check(err)
	store, err := newStore(tables, queues.NewQueueClient("work"))
	check(err)
	// A scaler asks the job to end by SIGTERM. Handlers may then go on for Options.Grace.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *longest)
	defer cancel()
	check(drain(ctx, queues.NewQueueClient, store, *late, os.Stdout))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// newStore returns the store with which other programs change employees.
func newStore(tables *aztables.ServiceClient, work *azqueue.QueueClient) (*patterns.Store[Employee], error) {
	staff := tables.NewClient("Staff")
	byLast := secondaryindex.Inter("byLast", staff, func(e *Employee) (string, bool) { return e.Last, e.Last != "" },
		&secondaryindex.Options[Employee]{NonUnique: true, Partition: func(_, last string) string { return "last_" + keys.Escape(last) }})
	outbox, err := eventual.NewOutbox(work, "staff", nil)
	if err != nil {
		return nil, err
	}
	table, err := patterns.NewTable[Employee](staff, nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byLast}, Outbox: outbox})
}

// drain processes messages until ctx ends or there is nothing to do.
func drain(ctx context.Context, queue func(name string) *azqueue.QueueClient, store *patterns.Store[Employee], late bool, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opts := eventual.Options{
		Poison:     queue("work-poison"),
		LateChecks: queue("work-late"),
		PollMax:    2 * time.Second,
		// A message that waits for its next attempt is counted too, so the pauses are short.
		Backoff: func(attempt int) time.Duration { return time.Duration(attempt) * time.Second },
	}
	work, idle := queue("work"), isEmpty
	if late {
		work, idle, opts.LateChecks = opts.LateChecks, hasNoneVisible, nil
	}
	worker, err := eventual.NewWorker(work, &opts)
	if err != nil {
		return err
	}
	eventual.HandleOutbox(worker, "staff", store)
	eventual.Handle(worker, "letter.send", func(_ context.Context, job eventual.Job[Letter]) error {
		if job.Message.To == "" {
			return fmt.Errorf("attempt %d: no address", job.Attempt)
		}
		_, err := fmt.Fprintf(out, "Dear %s, %s\n", job.Message.To, job.Message.Text)
		return err
	})
	eventual.Every(worker, "end", 5*time.Second, func(ctx context.Context) error {
		ended, err := idle(ctx, work)
		if ended {
			stop()
		}
		return err
	})
	return worker.Run(ctx)
}

// isEmpty reports whether the queue contains no message, visible or hidden.
func isEmpty(ctx context.Context, queue *azqueue.QueueClient) (bool, error) {
	p, err := queue.GetProperties(ctx, nil)
	return err == nil && p.ApproximateMessagesCount != nil && *p.ApproximateMessagesCount == 0, err
}

// hasNoneVisible reports whether no message of the queue is visible.
func hasNoneVisible(ctx context.Context, queue *azqueue.QueueClient) (bool, error) {
	p, err := queue.PeekMessage(ctx, nil)
	return err == nil && len(p.Messages) == 0, err
}
