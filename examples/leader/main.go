// Command leader counts the runs of a service whose processes have one leader: it alone does the work.
//
// Problem: a service runs several times, and a task must run once: a nightly report, a schedule, a migration. If the process
// that does it dies, another one must go on, and one that was only paused must not undo what its successor has done.
//
// Solution: each process runs [eventual.Lease.Run]. The row that the task writes contains the fence of its leader, so a leader that
// does not know that it has been replaced changes nothing.
//
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/leader -name first
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/leader -name second   # in another terminal
//
// Kill the leader: the other one goes on within 46 seconds. Interrupt it: the other one goes on within 15 seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// Report is the row that only the leader writes.
type Report struct {
	PartitionKey, RowKey string
	Fence                int64  // of the leader that wrote it
	Leader               string // its name
	Runs                 int64
}

// service is one process.
type service struct {
	name    string
	every   time.Duration
	lease   *eventual.Lease
	reports *patterns.Table[Report]
}

func newService(name string, every time.Duration, tables *aztables.ServiceClient) (*service, error) {
	lease, err1 := eventual.NewLease(tables.NewClient("Leases"), keys.Key{Partition: "reports", Row: "leader"}, nil)
	reports, err2 := patterns.NewTable[Report](tables.NewClient("Reports"), nil)
	return &service{name, every, lease, reports}, errors.Join(err1, err2)
}

// report is the key of the row.
var report = keys.Key{Partition: "reports", Row: "daily"}

// create creates the tables and the row, if they do not exist.
func (s *service) create(ctx context.Context) error {
	if err := errors.Join(s.lease.Create(ctx), s.reports.Create(ctx)); err != nil {
		return err
	}
	_, err := s.reports.Insert(ctx, &Report{PartitionKey: report.Partition, RowKey: report.Row})
	if errors.Is(err, patterns.ErrExists) {
		return nil
	}
	return err
}

// run is the leader, or waits to be it, until ctx ends.
func (s *service) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.lease.Run(ctx, s.lead); err != nil && ctx.Err() == nil {
			log.Printf("%s: %v", s.name, err) // the lease was lost, or a request has failed
			select {
			case <-time.After(s.every):
			case <-ctx.Done():
			}
		}
	}
	return ctx.Err()
}

// lead does the work until ctx ends, also because the lease was lost.
func (s *service) lead(ctx context.Context, fence int64) error {
	log.Printf("%s is leader %d", s.name, fence)
	for {
		if err := s.work(ctx, fence); err != nil {
			return err
		}
		select {
		case <-time.After(s.every):
		case <-ctx.Done():
			return nil
		}
	}
}

// work is one run of the task.
func (s *service) work(ctx context.Context, fence int64) error {
	_, err := s.reports.Update(ctx, report, func(r *Report) error {
		if r.Fence > fence {
			return eventual.ErrLeaseLost
		}
		r.Fence, r.Leader = fence, s.name
		r.Runs++
		return nil
	})
	return err
}

func main() {
	name := flag.String("name", "leader", "the `name` of this process in the report")
	every := flag.Duration("every", 10*time.Second, "the `time` between two runs of the task")
	flag.Parse()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	tables, err := aztables.NewServiceClientFromConnectionString(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), &opts)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := newService(*name, *every, tables)
	if err != nil {
		log.Fatal(err)
	}
	if err := s.create(ctx); err != nil {
		log.Fatal(err)
	}
	if err := s.run(ctx); !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}
