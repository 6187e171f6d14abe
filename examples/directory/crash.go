package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// role is the environment variable that makes this program a child of itself: "day"
// or "recover".
const role = "AZPATTERNS_DIRECTORY_ROLE"

// hasty waits seconds, so that the demonstration is over in some. A service keeps to
// the defaults: a process may well sleep for a second and go on.
func hasty() patience {
	return patience{grace: time.Second, expiry: 2 * time.Second, visibility: time.Second, poll: 100 * time.Millisecond}
}

// child is what a child does.
func child(ctx context.Context, out io.Writer, what string) error {
	a, err := account.Connect("", os.Getenv(account.Connection))
	if err != nil {
		return err
	}
	defer a.Close()
	d, err := NewDirectory(a, "", hasty())
	if err != nil {
		return err
	}
	switch what {
	case "day":
		return d.day(ctx, out)
	case "recover":
		return d.Recover(ctx)
	}
	return fmt.Errorf("%s: no such role", what)
}

// day is what is going on when the process is killed.
func (d *Directory) day(ctx context.Context, out io.Writer) error {
	for _, s := range []struct {
		what string
		do   func() error
	}{
		{"hiring Lee Oh", func() error {
			return d.Hire(ctx, Employee{Department: "Sales", ID: "000400", FirstName: "Lee", LastName: "Oh", Email: "leeo@contoso.com", Badge: "A-40"})
		}},
		{"changing name, address and badge of Mary Jones", func() error {
			_, err := d.Change(ctx, mary, married)
			return err
		}},
		{"moving Jun Cao from Sales to Marketing", func() error {
			if err := d.Transfer(ctx, keys.Key{Partition: "Sales", Row: "000223"}, "Marketing"); err != nil {
				return err
			}
			return d.Work(ctx, 1)
		}},
		{"archiving Ken Kwok", func() error {
			if err := d.Archive(ctx, keys.Key{Partition: "Sales", Row: "000010"}); err != nil {
				return err
			}
			return d.Work(ctx, 1)
		}},
	} {
		fmt.Fprintln(out, s.what)
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}

// opened is a directory with its staff in an account of this process.
func opened(ctx context.Context, acct *storagetest.Account) (*account.Account, *Directory, error) {
	a := account.Local(acct)
	d, err := NewDirectory(a, "", hasty())
	if err == nil {
		err = d.Create(ctx)
	}
	for _, e := range staff() {
		if err == nil {
			err = d.Hire(ctx, e)
		}
	}
	return a, d, err
}

// crash lets a child work on an account in this process, kills it at its at-th
// request, shows what it left, and lets another child put it right. at 0 is any.
func crash(ctx context.Context, out io.Writer, at int) error {
	if at <= 0 {
		n, err := requestsOfADay(ctx)
		if err != nil {
			return err
		}
		at = 1 + rand.IntN(n)
	}
	acct := storagetest.Start(nil)
	_, d, err := opened(ctx, acct)
	if err != nil {
		return err
	}
	server, err := acct.Serve()
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintf(out, "account: in this process, for others at %s\n", server.TablesURL)

	// The at-th request does not arrive before its sender is dead.
	reached := make(chan string, 1)
	n := 0
	acct.Fault(storagetest.On("*").Where(func(r storagetest.Request) bool {
		if n++; n == at {
			reached <- string(r.Op)
			return true
		}
		return false
	}).Delay(24 * time.Hour))
	killed, err := run(ctx, out, server, "day", reached)
	if err != nil {
		return err
	}
	acct.ClearFaults()
	if killed == "" {
		fmt.Fprintf(out, "it ended before its request %d\n", at)
	} else {
		fmt.Fprintf(out, "killed at its request %d, %s\n", at, killed)
	}
	differences, err := d.Check(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nwhat it left undone:\n")
	for _, text := range differences {
		fmt.Fprintln(out, "  "+text)
	}
	if len(differences) == 0 {
		fmt.Fprintln(out, "  nothing to be seen in the tables")
	}

	start := time.Now()
	if _, err := run(ctx, out, server, "recover", nil); err != nil {
		return err
	}
	if err := d.sound(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "\na new process ran for %.1f s: all views agree with the employees, and nobody is missing\n", time.Since(start).Seconds())
	return nil
}

// requestsOfADay counts them, in an account of its own.
func requestsOfADay(ctx context.Context) (int, error) {
	a, d, err := opened(ctx, storagetest.Start(nil))
	if err != nil {
		return 0, err
	}
	before := a.Requests()
	err = d.day(ctx, io.Discard)
	return a.Requests() - before, err
}

// run runs a child. If reached tells of an operation before it ends, it is killed
// with no chance to do anything more (SIGKILL, where there are signals).
func run(ctx context.Context, out io.Writer, server *storagetest.Server, what string, reached <-chan string) (op string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, account.Connection+"=") }),
		role+"="+what, account.Connection+"="+server.ConnectionString())
	// The same for both: then one write follows the other.
	told := &indented{out: out}
	cmd.Stdout, cmd.Stderr = told, told
	fmt.Fprintf(out, "\na process starts: %s\n", what)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case op = <-reached:
		err = cmd.Process.Kill()
		<-ended // as killed
	case err = <-ended:
	}
	return op, err
}

// indented writes lines two spaces to the right.
type indented struct {
	out    io.Writer
	inside bool // a line
}

func (w *indented) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if !w.inside {
			fmt.Fprint(w.out, "  ")
		}
		w.out.Write(line)
		w.inside = !bytes.HasSuffix(line, []byte("\n"))
	}
	return len(p), nil
}

// sound checks the views, and that all of the staff are somewhere.
func (d *Directory) sound(ctx context.Context) error {
	differences, err := d.Check(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, table := range []*aztables.Client{d.employees, d.archive} {
		rows, err := list(ctx, table)
		if err != nil {
			return err
		}
		for _, r := range rows {
			there[r.text("RowKey")] = true
		}
	}
	for _, e := range staff() {
		if !there[e.ID] {
			differences = append(differences, "nobody has the id "+e.ID)
		}
	}
	if len(differences) > 0 {
		return errors.New(strings.Join(differences, "; "))
	}
	return nil
}
