package eventual_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Report is a row that only the leader writes.
type Report struct {
	Fence int64
	Text  string
}

// One leader: every process of a service runs this loop. What the leader writes has its fence, so that one that was paused and does not
// know that it has been replaced changes nothing.
func ExampleLease() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	acct := storagetest.Start(nil)
	key := keys.Key{Partition: "reports", Row: "daily"}
	reports, err1 := patterns.NewTable(acct.Tables().NewClient("Reports"), &patterns.TableOptions[Report]{Keyless: true})
	leader, err2 := eventual.NewLease(acct.Tables().NewClient("Leases"), keys.Key{Partition: "reports", Row: "leader"}, nil)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}
	insert := func() error {
		_, err := reports.Do(ctx, patterns.InsertOp(&Report{}).At(key))
		return err
	}
	if err := errors.Join(reports.Create(ctx), leader.Create(ctx), insert()); err != nil {
		fmt.Println(err)
		return
	}

	lead := func(ctx context.Context, fence int64) error {
		_, err := reports.Update(ctx, key, func(r *Report) error {
			if r.Fence > fence {
				return eventual.ErrLeaseLost
			}
			r.Fence, r.Text = fence, fmt.Sprintf("written by leader %d", fence)
			return nil
		})
		return err
	}
	for terms := 1; ctx.Err() == nil; terms++ {
		err := leader.Run(ctx, lead)
		fmt.Println("a term has ended:", err)
		if terms == 2 {
			stop()
		}
	}
	item, err := reports.Get(context.Background(), key)
	fmt.Println(item.Value.Text, err)
	// Output:
	// a term has ended: <nil>
	// a term has ended: <nil>
	// written by leader 2 <nil>
}

// Partitions that workers divide among them: each worker owns at most three, and takes those of a worker that dies.
func ExampleLease_TryRun() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	const partitions, most = 8, 3
	owned := make(chan int, most) // a place for each partition that this worker may own
	for p := range partitions {
		lease, err := eventual.NewLease(acct.Tables().NewClient("Leases"), keys.Key{Partition: "orders", Row: fmt.Sprint(p)}, nil)
		if err == nil && p == 0 {
			err = lease.Create(ctx)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(owned) == most {
			break // a service goes on until it owns three, and waits between two rounds
		}
		_, err = lease.TryRun(ctx, func(context.Context, int64) error {
			owned <- p // a service processes the partition here, in a goroutine of its own for each, until the context ends
			return nil
		})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("owned", len(owned))
	// Output:
	// owned 3
}
