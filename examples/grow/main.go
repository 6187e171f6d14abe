// Command grow loads a table until its account is throttled, adds two accounts while it is used,
// and loses the primary region of one of them.
//
//	go run ./examples/grow
//
// It uses accounts inside this process, each of which accepts 2,000 entities per second and has a
// secondary region (RA-GRS). Packages govern, shards and regions do the work. For each phase it
// prints how many operations succeeded, how many requests were refused, and how long the slowest
// hundredth took. It takes about a minute.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

const about = `
grow loads a table until its account is throttled, adds two accounts while it is used, and
loses the primary region of one of them. For each phase it prints how many operations
succeeded, how many requests were refused, and how long the slowest hundredth took. It uses
accounts inside this process, and takes about a minute.`

func main() {
	cmdline.Parse(about)
	all, err := openAll()
	if err == nil {
		_, err = run(context.Background(), os.Stdout, all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "grow:", err)
		os.Exit(1)
	}
}

// run prints the figures of each phase, and returns them.
func run(ctx context.Context, out io.Writer, all []*account) (phases []figures, err error) {
	// Reads survive an outage of the first account, which has the directory, for half of a lease.
	s, err := shards.New([]shards.Account{all[0].Account}, "Orders", &shards.Options{Lease: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	if err := s.Create(ctx); err != nil {
		return nil, err
	}
	l, err := newLoad(ctx, s, all)
	if err != nil {
		return nil, err
	}
	defer l.stop()
	phase := func(name string, f func() error) error {
		now, err := l.phase(name, f)
		phases = append(phases, now)
		fmt.Fprintln(out, now)
		return err
	}
	fmt.Fprintln(out, header)

	l.start(3)
	phase("one account, 3 clients", sleep(3*time.Second))
	l.start(21)
	phase("one account, 24 clients", sleep(3*time.Second))
	for _, a := range all[1:] {
		if err := phase("account "+a.Name+" is added", func() error { return s.Add(ctx, a.Account, nil) }); err != nil {
			return nil, err
		}
	}
	phase("three accounts", sleep(3*time.Second))
	all[0].storage.Down(storagetest.Primary)
	phase("a loses its primary region", sleep(4*time.Second))
	all[0].storage.Down()
	phase("the region is back", sleep(10*time.Second))
	return phases, nil
}

// sleep returns a phase of this length.
func sleep(d time.Duration) func() error {
	return func() error { time.Sleep(d); return nil }
}
