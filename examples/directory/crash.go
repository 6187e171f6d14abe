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

// role is the environment variable that is set in the child processes of crash. Its value
// is "day" or "recover".
const role = "AZPATTERNS_DIRECTORY_ROLE"

// shortTimeouts returns timeouts of one or two seconds, so that the demonstration ends
// soon. A service should use the defaults, because a live process can pause for seconds.
func shortTimeouts() timeouts {
	return timeouts{grace: time.Second, expiry: 2 * time.Second, visibility: time.Second, poll: 100 * time.Millisecond}
}

// runRole is the main function of a child process.
func runRole(ctx context.Context, out io.Writer, what string) error {
	a, err := account.Connect("", os.Getenv(account.Connection))
	if err != nil {
		return err
	}
	defer a.Close()
	d, err := NewDirectory(a.Tables, a.Queue, "", shortTimeouts(), nil)
	if err != nil {
		return err
	}
	switch what {
	case "day":
		return d.day(ctx, out)
	case "recover":
		return d.Recover(ctx)
	}
	return fmt.Errorf("unknown role %q", what)
}

// day executes the operations during which the process is killed.
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

// newWithStaff creates a directory on acct and hires the staff.
func newWithStaff(ctx context.Context, acct *storagetest.Account) (*account.Account, *Directory, error) {
	a := account.Local(acct)
	d, err := NewDirectory(a.Tables, a.Queue, "", shortTimeouts(), nil)
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

// crash starts a child process that works on an account in this process, kills it at its
// at-th request, prints the inconsistencies, and starts a second child that repairs them.
// If at is 0, it selects a random request.
func crash(ctx context.Context, out io.Writer, at int) error {
	if at <= 0 {
		n, err := requestsOfADay(ctx)
		if err != nil {
			return err
		}
		at = 1 + rand.IntN(n)
	}
	acct := storagetest.Start(nil)
	_, d, err := newWithStaff(ctx, acct)
	if err != nil {
		return err
	}
	server, err := acct.Serve()
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintf(out, "account: in this process, served to other processes at %s\n", server.TablesURL)

	// The at-th request is delayed until the child is dead.
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
		fmt.Fprintf(out, "it ended before request %d\n", at)
	} else {
		fmt.Fprintf(out, "killed at request %d, %s\n", at, killed)
	}
	differences, err := d.Check(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\ninconsistencies after the crash:\n")
	for _, text := range differences {
		fmt.Fprintln(out, "  "+text)
	}
	if len(differences) == 0 {
		fmt.Fprintln(out, "  none")
	}

	start := time.Now()
	if _, err := run(ctx, out, server, "recover", nil); err != nil {
		return err
	}
	if err := d.checkAll(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "\na new process ran for %.1f s: all views agree with the employees, and no employee is missing\n", time.Since(start).Seconds())
	return nil
}

// requestsOfADay returns the number of requests that day makes, measured on a new account.
func requestsOfADay(ctx context.Context) (int, error) {
	a, d, err := newWithStaff(ctx, storagetest.Start(nil))
	if err != nil {
		return 0, err
	}
	before := a.Requests()
	err = d.day(ctx, io.Discard)
	return a.Requests() - before, err
}

// run runs a child process. If reached receives an operation before the child ends, run
// kills the child (with SIGKILL, except on Windows) and returns the operation.
func run(ctx context.Context, out io.Writer, server *storagetest.Server, what string, reached <-chan string) (op string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, account.Connection+"=") }),
		role+"="+what, account.Connection+"="+server.ConnectionString())
	// One writer for both, so that exec does not write to it concurrently.
	output := &indented{out: out}
	cmd.Stdout, cmd.Stderr = output, output
	fmt.Fprintf(out, "\nstarting a process: %s\n", what)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case op = <-reached:
		err = cmd.Process.Kill()
		<-ended // the error reports the kill
	case err = <-ended:
	}
	return op, err
}

// indented is a writer that indents each line by two spaces.
type indented struct {
	out    io.Writer
	inside bool // the last write ended in the middle of a line
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

// checkAll returns an error if Check finds a difference or if a member of the staff is
// missing.
func (d *Directory) checkAll(ctx context.Context) error {
	differences, err := d.Check(ctx)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, table := range []*aztables.Client{d.employees, d.archive} {
		rows, err := list(ctx, table)
		if err != nil {
			return err
		}
		for _, r := range rows {
			found[r.text("RowKey")] = true
		}
	}
	for _, e := range staff() {
		if !found[e.ID] {
			differences = append(differences, "employee "+e.ID+" is missing")
		}
	}
	if len(differences) > 0 {
		return errors.New(strings.Join(differences, "; "))
	}
	return nil
}
