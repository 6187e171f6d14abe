// Command photos keeps employees with their photos: hired, read, given a new photo and
// dismissed. A worker deletes the photos that nobody has any more; what it was never told
// of is swept away in the end.
//
//	go run ./examples/photos
//
// It runs on an account inside this process, whose request log tells what each step
// costs. It takes some seconds, since photos are kept for a grace time.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func main() {
	cmdline.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "photos:", err)
		os.Exit(1)
	}
}

// Employee is one row, and a blob where the photo is large.
type Employee struct {
	Department string `table:"PartitionKey"`
	Email      string `table:"RowKey"`
	Name       string
	Photo      []byte `table:",blob"`
}

// grace is short so that the example ends soon. The default, a day, suits most
// services: no reader and no writer takes that long.
const grace = 4 * time.Second

// album is the table of employees and the log of what it costs.
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
	outbox, err := eventual.NewOutbox(jobs, "")
	if err != nil {
		return err
	}
	staff, err := largeentity.New(account.TablesWith(patterns.Accelerate(nil)).NewClient("Employees"), account.Container("photos"),
		&largeentity.Options[Employee]{
			Grace: grace,
			// Every write that creates or drops a photo says so beforehand, and a worker
			// looks later which photos the employee still has.
			Outbox: outbox,
		})
	if err != nil {
		return err
	}
	if err := staff.Create(ctx); err != nil {
		return err
	}
	a := &album{account, staff, jobs, out}
	for _, step := range []func(context.Context) error{a.hire, a.list, a.replace, a.dismiss, a.work, a.lose, a.sweep} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell prints a line and the requests since the last one.
func (a *album) tell(format string, args ...any) {
	fmt.Fprintf(a.out, format+"\n  %v\n", append(args, a.account.Log().Ops())...)
	a.account.ResetLog()
}
