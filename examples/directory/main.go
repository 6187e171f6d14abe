// Command directory is an employee directory: it finds employees by id, e-mail address,
// badge and last name, keeps the size and the manager of each department, moves employees
// between departments, and archives them. It prints the number of requests of each step.
//
//	go run ./examples/directory                    an account inside this process
//	go run ./examples/directory -azurite           Azurite, started for the run
//	go run ./examples/directory -account URL       a real account, by azidentity
//	go run ./examples/directory -crash             kill it in the middle, and heal it
//
// AZURE_STORAGE_CONNECTION_STRING, if set, names the account when no flag does. The
// tables and queues get names of their own and are deleted at the end.
//
// With -crash this program starts itself as a second process, on an account that it
// keeps, kills it at one of its requests (-at, or any), shows what is inconsistent
// then, and starts a third one, whose worker puts that right.
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
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
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
		return child(ctx, out, what)
	}
	var where account.Flags
	where.Register()
	crashes := flag.Bool("crash", false, "kill the program in the middle, and start it again")
	at := flag.Int("at", 0, "with -crash: the `request` at which it is killed, 0 is any")
	cmdline.Parse(about)
	switch {
	case *crashes:
	case *at != 0:
		return errors.New("-at is of -crash")
	default:
		return show(ctx, out, where)
	}
	if where != (account.Flags{}) {
		return errors.New("-crash has an account of its own")
	}
	return crash(ctx, out, *at)
}

// show runs the tour on tables and queues of its own.
func show(ctx context.Context, out io.Writer, where account.Flags) (err error) {
	a, err := account.Open(ctx, where)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Fprintln(out, "account:", a.Name)
	d, err := NewDirectory(a, fmt.Sprintf("%08x", rand.Uint32()), patience{})
	if err != nil {
		return err
	}
	defer func() {
		// Also after an interrupt, so with a context of its own.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, d.Drop(ctx))
	}()
	return (&tour{d, out, a}).run(ctx)
}
