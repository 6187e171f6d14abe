// Command migrate moves a small product catalogue from aztables to azpatterns while it is in
// use: first both services sell products of one table, then the new one adds an index to
// the rows that exist. It prints the number of requests of each step.
//
//	go run ./examples/migrate                an account inside this process
//	go run ./examples/migrate -azurite       Azurite, started for the run
//	go run ./examples/migrate -account URL   a real account, by azidentity
//
// With -run ID -state TABLE it shows a run of package reindex instead, whose state is in that
// table of the account.
//
// Without a flag the environment variable AZURE_STORAGE_CONNECTION_STRING, if it is set,
// selects the account. The tables and the queue have names with a random suffix and are
// deleted at the end.
//
// Package before is the service on aztables, with the mistakes that such code often has;
// package after is the same service on azpatterns.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/examples/migrate/after"
	"github.com/azpatterns/azpatterns/examples/migrate/before"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

const about = `
migrate moves a small product catalogue from aztables to azpatterns while it is in use:
first both services sell products of one table, then the new one adds an index to the rows
that exist. It prints the number of requests of each step.

Without flags it uses an account inside this process, or the account of the connection
string in AZURE_STORAGE_CONNECTION_STRING.`

func main() {
	var where account.Flags
	where.Register()
	id := flag.String("run", "", "show the progress and the findings of the run with this `ID`")
	state := flag.String("state", "", "the `table` with the state of the run")
	cmdline.Parse(about)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := func() error { return run(ctx, os.Stdout, where) }
	if *id != "" {
		do = func() error { return status(ctx, os.Stdout, where, *state, *id) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(1)
	}
}

// run migrates a new table, and deletes it.
func run(ctx context.Context, out io.Writer, where account.Flags) (err error) {
	a, err := account.Open(ctx, where)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Fprintln(out, "account:", a.Name)
	m, err := newMigration(a.Tables, a.Queue, fmt.Sprintf("%08x", rand.Uint32()), out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, account.Drop(ctx, m.drop)) }()
	return m.run(ctx, a.Requests)
}

// migration is a catalogue whose services are exchanged.
type migration struct {
	out             io.Writer
	products, index *aztables.Client
	queue           *azqueue.QueueClient
	state           *aztables.Client              // of shared runs
	jobs            *azqueue.QueueClient          // of shared runs
	created         []func(context.Context) error // deletes what has been created

	byHand *before.Catalogue
	first  *after.Catalogue // the version that runs at the same time as byHand
	second *after.Catalogue // the version that uses the index
}

// newMigration makes no request.
func newMigration(
	tables *aztables.ServiceClient, queue func(name string) (*azqueue.QueueClient, error), suffix string, out io.Writer,
) (*migration, error) {
	m := &migration{
		out:      out,
		products: tables.NewClient("Products" + suffix),
		index:    tables.NewClient("ProductsBySupplier" + suffix),
		state:    tables.NewClient("Runs" + suffix),
	}
	m.byHand = before.New(m.products)
	var err1, err2, err3 error
	m.queue, err1 = queue("products" + suffix)
	m.jobs, err2 = queue("reindex" + suffix)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	outbox, err1 := eventual.NewOutbox(m.queue, "", nil)
	m.first, err2 = after.New(m.products, m.index, outbox, true)
	m.second, err3 = after.New(m.products, m.index, outbox, false)
	return m, errors.Join(err1, err2, err3)
}

// drop deletes what has been created.
func (m *migration) drop(ctx context.Context) (err error) {
	for _, drop := range m.created {
		err = errors.Join(err, drop(ctx))
	}
	return err
}

func dropTable(client *aztables.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.Delete(ctx, nil)
		return err
	}
}

func dropQueue(client *azqueue.QueueClient) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.Delete(ctx, nil)
		return err
	}
}
