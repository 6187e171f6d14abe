// Command directory is an employee directory: it finds employees by id, e-mail address,
// badge and last name, keeps the size and the manager of each department, moves employees
// between departments, and archives them. It prints the number of requests of each step.
//
//	go run ./examples/directory                    an account inside this process
//	go run ./examples/directory -azurite           Azurite, started for the run
//	go run ./examples/directory -account URL       a real account, by azidentity
//	go run ./examples/directory -crash             a process is killed, another one repairs
//
// Without a flag the environment variable AZURE_STORAGE_CONNECTION_STRING, if it is set,
// selects the account. The tables and queues have names with a random suffix and are
// deleted at the end.
//
// With -crash the program serves an account inside this process, and starts itself as a
// second process that works on it. It kills the second process at one of its requests
// (selected with -at, otherwise at random), prints the inconsistencies, and starts a third
// process whose worker repairs them.
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

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/patterns"
)

const about = `
directory is an employee directory: it finds employees by id, e-mail address, badge and
last name, keeps the size and the manager of each department, moves employees between
departments, and archives them. It prints the number of requests of each step.

Without flags it uses an account inside this process, or the account of the connection
string in AZURE_STORAGE_CONNECTION_STRING.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "directory:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, out io.Writer) error {
	if what := os.Getenv(role); what != "" {
		return runRole(ctx, out, what)
	}
	var where account.Flags
	where.Register()
	crashes := flag.Bool("crash", false, "kill a process during its work, and repair with another process")
	at := flag.Int("at", 0, "with -crash: the `request` at which the process is killed; 0 means a random one")
	cmdline.Parse(about)
	switch {
	case *crashes:
	case *at != 0:
		return errors.New("-at requires -crash")
	default:
		return show(ctx, out, where)
	}
	if where != (account.Flags{}) {
		return errors.New("-crash uses its own account: do not select one")
	}
	return crash(ctx, out, *at)
}

// show runs the tour on new tables and queues, and deletes them.
func show(ctx context.Context, out io.Writer, where account.Flags) (err error) {
	a, err := account.Open(ctx, where)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Fprintln(out, "account:", a.Name)
	finisher, err := patterns.NewFinisher(nil)
	if err != nil {
		return err
	}
	d, err := NewDirectory(a.Tables, a.Queue, fmt.Sprintf("%08x", rand.Uint32()), timeouts{}, finisher)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finisher.Close(ctx), account.Drop(ctx, d.Drop)) }()
	return (&tour{d, out}).run(ctx, a.Requests)
}
