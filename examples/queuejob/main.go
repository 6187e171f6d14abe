// Command queuejob processes the jobs of a queue until it is empty, and then ends: a job
// that a scaler starts, such as a ScaledJob of KEDA or a job of Azure Container Apps.
//
// Problem: work comes in bursts, and no worker is to run in between.
//
// Solution: the scaler counts the messages of the queue, visible and hidden. So does this
// program, and it ends when there are none. Messages that are hidden for long would keep it
// running: late checks of a Store go to a queue of their own, on which the same program runs
// once a day with -queue work-late.
//
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/queuejob
//
// A job that is killed loses nothing: its messages become visible to the next one.
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

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// Letter is the payload of the jobs of the kind "letter.send".
type Letter struct{ To, Text string }

func main() {
	name := flag.String("queue", "work", "`name` of the queue")
	longest := flag.Duration("longest", time.Hour, "end after this `time`, even if the queue is not empty")
	flag.Parse()
	var opts azqueue.ClientOptions
	opts.Transport = patterns.LimitReplies(nil)
	queues, err := azqueue.NewServiceClientFromConnectionString(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), &opts)
	if err != nil {
		log.Fatal(err)
	}
	// A scaler asks the job to end by SIGTERM. Handlers may then go on for Options.Grace.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *longest)
	defer cancel()
	if err := drain(ctx, queues.NewQueueClient(*name), queues.NewQueueClient(*name+"-poison"), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// drain processes messages until ctx ends or the queue is empty.
func drain(ctx context.Context, queue, poison *azqueue.QueueClient, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	worker, err := eventual.NewWorker(queue, &eventual.Options{
		Poison:  poison,
		PollMax: 2 * time.Second,
		// A message that waits for its next attempt is counted too, so the pauses are short.
		Backoff: func(attempt int) time.Duration { return time.Duration(attempt) * time.Second },
	})
	if err != nil {
		return err
	}
	eventual.Handle(worker, "letter.send", func(_ context.Context, job eventual.Job[Letter]) error {
		if job.Message.To == "" {
			return fmt.Errorf("attempt %d: no address", job.Attempt)
		}
		_, err := fmt.Fprintf(out, "Dear %s, %s\n", job.Message.To, job.Message.Text)
		return err
	})
	eventual.Every(worker, "end", 5*time.Second, func(ctx context.Context) error {
		properties, err := queue.GetProperties(ctx, nil)
		if err == nil && properties.ApproximateMessagesCount != nil && *properties.ApproximateMessagesCount == 0 {
			stop()
		}
		return err
	})
	return worker.Run(ctx)
}
