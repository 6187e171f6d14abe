// Command partitions processes the partitions of a service's work, which its processes divide among them.
//
// Problem: orders of one region are processed in order, by one worker at a time, and there are more regions than one process can
// serve. Processes come and go.
//
// Solution: each region has an [eventual.Lease]. A process takes the free ones, but no more than its share, -most, so that others
// get some. If a process dies, the others take its regions, if their shares permit it: choose -most so that the processes that
// remain have room for all.
//
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/partitions -name a
//	AZURE_STORAGE_CONNECTION_STRING=… go run ./examples/partitions -name b   # in another terminal
//
// A region of a process that was killed is taken within 36 seconds, if another one has room, and one of a process that has ended
// within 6. Each process that has room makes a request for each region that it does not own, each 5 seconds, and one each 10
// seconds for each region that it owns.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

const (
	regions = 8
	pause   = 5 * time.Second // between two tries of a region
)

// Region is what is known of the work in a region.
type Region struct {
	PartitionKey, RowKey string
	Fence                int64  // of the owner that wrote it
	Owner                string // its name
	Orders               int64  // processed
}

// worker is one process.
type worker struct {
	name   string
	leases []*eventual.Lease
	table  *patterns.Table[Region]
	room   chan struct{} // has a place for each region that the process may own
}

func newWorker(name string, most int, tables *aztables.ServiceClient) (*worker, error) {
	table, err := patterns.NewTable[Region](tables.NewClient("Regions"), nil)
	w := &worker{name: name, table: table, room: make(chan struct{}, most)}
	for r := range regions {
		lease, failed := eventual.NewLease(tables.NewClient("Regions"), keys.Key{Partition: "lease", Row: fmt.Sprint(r)}, nil)
		w.leases = append(w.leases, lease)
		err = errors.Join(err, failed)
	}
	return w, err
}

// run owns regions until ctx ends.
func (w *worker) run(ctx context.Context) {
	var running sync.WaitGroup
	for r := range regions {
		running.Go(func() { w.own(ctx, r) })
	}
	running.Wait()
}

// own owns a region each time that it is free and there is room.
func (w *worker) own(ctx context.Context, r int) {
	for ; ctx.Err() == nil; wait(ctx, pause) {
		select {
		case w.room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		_, err := w.leases[r].TryRun(ctx, func(ctx context.Context, fence int64) error { return w.process(ctx, r, fence) })
		<-w.room
		if err != nil && ctx.Err() == nil {
			log.Printf("%s: region %d: %v", w.name, r, err)
		}
	}
}

// process processes the orders of a region until ctx ends, also because the lease was lost.
func (w *worker) process(ctx context.Context, r int, fence int64) error {
	log.Printf("%s owns region %d", w.name, r)
	for ctx.Err() == nil {
		if err := w.order(ctx, r, fence); err != nil {
			return err
		}
		wait(ctx, time.Second) // here, for the next order
	}
	return nil
}

// order processes one order. The row has the fence, so a process that was paused changes nothing of its successor.
func (w *worker) order(ctx context.Context, r int, fence int64) error {
	key := keys.Key{Partition: "region", Row: fmt.Sprint(r)}
	change := func(v *Region) error {
		if v.Fence > fence {
			return eventual.ErrLeaseLost
		}
		v.PartitionKey, v.RowKey, v.Fence, v.Owner = key.Partition, key.Row, fence, w.name
		v.Orders++
		return nil
	}
	_, err := w.table.Update(ctx, key, change)
	if errors.Is(err, patterns.ErrNotFound) { // the first order of the region
		var first Region
		_ = change(&first)
		_, err = w.table.Insert(ctx, &first)
	}
	return err
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func main() {
	name := flag.String("name", "worker", "the `name` of this process")
	most := flag.Int("most", 5, "the largest `number` of regions that this process may own")
	flag.Parse()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	tables, err := aztables.NewServiceClientFromConnectionString(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), &opts)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w, err := newWorker(*name, *most, tables)
	if err == nil {
		err = w.table.Create(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	w.run(ctx)
}
