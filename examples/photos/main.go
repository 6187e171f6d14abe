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
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
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
	if err := run(ctx, os.Stdout); err != nil {
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

// album is the table of employees, its outbox queue, and the account that logs the requests.
type album struct {
	account *storagetest.Account
	staff   *largeentity.Table[Employee]
	jobs    *azqueue.QueueClient
	out     io.Writer
}

func run(ctx context.Context, out io.Writer) error {
	account := storagetest.Start(nil)
	jobs := account.Queue("jobs")
	if _, err := jobs.Create(ctx, nil); err != nil {
		return err
	}
	outbox, err := eventual.NewOutbox(jobs, "", nil)
	if err != nil {
		return err
	}
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	staff, err := largeentity.New(account.TablesWith(&opts).NewClient("Employees"), account.Container("photos"),
		&largeentity.Options[Employee]{
			Grace: grace,
			// Before each write that creates or drops a photo, a message is sent to the queue.
			// Later a worker deletes the photos that the employee does not have.
			Outbox: outbox,
		})
	if err != nil {
		return err
	}
	if err := staff.Create(ctx); err != nil {
		return err
	}
	a := &album{account, staff, jobs, out}
	for _, step := range []func(context.Context) error{a.hire, a.list, a.replace, a.dismiss, a.runWorker, a.loseMessage, a.sweep} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// report prints a line, and the requests since the previous one.
func (a *album) report(format string, args ...any) {
	fmt.Fprintf(a.out, format+"\n  %v\n", append(args, a.account.Log().Ops())...)
	a.account.ResetLog()
}
