// Command photos stores employees in a table and their photos in blobs: it inserts, reads,
// updates and deletes employees. A worker deletes photos that are no longer used. A sweep
// finds unused photos for which the worker has no message.
//
//	go run ./examples/photos
//
// It uses an account inside this process. The request log of the account shows the cost of
// each step. The program takes some seconds, because unused photos are kept for a grace
// time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

const about = `
photos stores employees in a table and their photos in blobs: it inserts, reads, updates
and deletes employees. A worker deletes photos that are no longer used. A sweep finds
unused photos for which the worker has no message. The program prints the requests of each
step. It uses an account inside this process, and takes about 15 seconds.`

func main() {
	cmdline.Parse(about)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, storagetest.Start(nil)); err != nil {
		fmt.Fprintln(os.Stderr, "photos:", err)
		os.Exit(1)
	}
}

// Employee is one row, and a blob if the photo is large.
type Employee struct {
	Department string `table:"PartitionKey"`
	Email      string `table:"RowKey"`
	Name       string
	Photo      []byte `table:",blob"`
}

// grace is short so that the example ends soon. The default is a day, which is longer than
// any reader or writer of most services needs.
const grace = 4 * time.Second

// album is the table of employees and its outbox queue. Its methods are the steps: each returns
// what it has done.
type album struct {
	staff *largeentity.Table[Employee]
	jobs  *azqueue.QueueClient
	old   largeentity.Item[Employee] // what an earlier reader has of Ann Beebe
}

// open creates the table, the container and the queue.
func open(ctx context.Context, employees *aztables.Client, photos *container.Client, jobs *azqueue.QueueClient) (*album, error) {
	outbox, err := eventual.NewOutbox(jobs, "", nil)
	if err != nil {
		return nil, err
	}
	staff, err := largeentity.New(employees, photos, &largeentity.Options[Employee]{
		Grace: grace,
		// Before each write that creates or drops a photo, a message is sent to the queue.
		// Later a worker deletes the photos that the employee does not have.
		Outbox: outbox,
	})
	if err != nil {
		return nil, err
	}
	_, err = jobs.Create(ctx, nil)
	return &album{staff: staff, jobs: jobs}, errors.Join(err, staff.Create(ctx))
}

// run prints the steps and their requests.
func run(ctx context.Context, out io.Writer, account *storagetest.Account) error {
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	a, err := open(ctx, account.TablesWith(&opts).NewClient("Employees"), account.Container("photos"), account.Queue("jobs"))
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) (string, error){
		a.hireAnn, a.hireJun, a.hireKen, a.list, a.replace, a.compare, a.dismiss, a.runWorker, a.loseMessage, a.sweep, a.sweepLater,
	} {
		account.ResetLog()
		text, err := step(ctx)
		if err != nil {
			return err
		}
		log := account.Log()
		if log.Count("Queue.Get") == 0 {
			fmt.Fprintf(out, "%s\n  %v\n", text, log.Ops())
			continue
		}
		// The other requests of a worker vary: how often it polls, and whether two of its handlers
		// find the same photo.
		deleted := 0
		for _, r := range log.Only("Blob.Delete") {
			if r.Status == http.StatusAccepted {
				deleted++
			}
		}
		fmt.Fprintf(out, "%s and deleted %d photos\n", text, deleted)
	}
	return nil
}
