// Command quickstart loads employees and expense claims from a CSV file into Azure tables,
// changes and reads them, and prints the number of requests of each step.
//
//	go run ./examples/quickstart                    an account inside this process
//	go run ./examples/quickstart -azurite           Azurite, started for the run
//	go run ./examples/quickstart -account URL       an Azure account, with azidentity
//
// Without a flag it uses the account of the connection string in
// AZURE_STORAGE_CONNECTION_STRING, if that is set. The two tables have unique names and
// are deleted at the end.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/query"
)

//go:embed sample.csv
var sample embed.FS

const about = `
quickstart loads employees and expense claims from a CSV file into Azure tables, changes
and reads them, and prints the number of requests of each step.

Without flags it uses a sample file, and an account inside this process or the account of
the connection string in AZURE_STORAGE_CONNECTION_STRING. The two tables have unique names
and are deleted at the end.`

func main() {
	csv := flag.String("csv", "", "load this `file` instead of the sample")
	var where account.Flags
	where.Register()
	cmdline.Parse(about)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *csv, where); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, csv string, where account.Flags) (err error) {
	file, err := input(csv)
	if err != nil {
		return err
	}
	defer file.Close()
	a, err := account.Open(ctx, where)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Fprintln(out, "account:", a.Name)

	d := &demo{out: out, progress: newProgress(os.Stderr)}
	suffix := fmt.Sprintf("%08x", rand.Uint32())
	employees, claims := a.Tables.NewClient("Employees"+suffix), a.Tables.NewClient("Claims"+suffix)
	if d.employees, err = patterns.NewTable[Employee](employees, nil); err != nil {
		return err
	}
	// All claims are in one stream, in four partitions.
	if d.claims, err = logtail.New(claims, &logtail.Options[Claim]{Time: func(c *Claim) time.Time { return c.Time }, Buckets: 4}); err != nil {
		return err
	}
	defer func() {
		for _, t := range d.created {
			err = errors.Join(err, account.Drop(ctx, t.Drop))
		}
	}()
	return d.steps(ctx, file, a.Requests)
}

func input(csv string) (io.ReadCloser, error) {
	if csv == "" {
		return sample.Open("sample.csv")
	}
	return os.Open(csv)
}

type demo struct {
	out       io.Writer
	progress  *progress
	employees *patterns.Table[Employee]
	claims    *logtail.Log[Claim]
	created   []table
	people    map[keys.Key]Employee // the employees in the file
}

type table interface {
	Create(context.Context) error
	Drop(context.Context) error
}

// steps prints what each step returns, and how many requests it made.
func (d *demo) steps(ctx context.Context, file io.Reader, requests func() int) error {
	load := func(ctx context.Context) (string, error) { return d.load(ctx, file) }
	return account.Run(ctx, d.out, 64, requests, d.create, load, d.storeEmployees, d.readOne, d.birthday, d.department, d.lastClaims)
}

func (d *demo) create(ctx context.Context) (string, error) {
	for _, t := range []table{d.employees, d.claims.Table()} {
		err := t.Create(ctx)
		if err == nil || ctx.Err() != nil { // an interrupted request may have created it
			d.created = append(d.created, t)
		}
		if err != nil {
			return "", err
		}
	}
	return "created two tables", nil
}

// stream is the name of the stream of claims.
const stream = "claims"

// load appends the claims of the file, a hundred per request, and collects the employees.
func (d *demo) load(ctx context.Context, file io.Reader) (string, error) {
	defer d.progress.done()
	d.people = make(map[keys.Key]Employee)
	var waiting []Claim
	loaded, skipped := 0, 0
	flush := func() error {
		_, err := d.claims.AppendAll(ctx, stream, waiting)
		loaded += len(waiting)
		waiting = waiting[:0]
		d.progress.at("claims", loaded)
		return err
	}
	for r, err := range records(file) {
		var bad *badLine
		if errors.As(err, &bad) {
			fmt.Fprintf(d.out, "skipped %v\n", bad)
			skipped++
			continue
		}
		if err != nil {
			return "", err
		}
		d.people[r.employee.key()] = r.employee
		if waiting = append(waiting, r.claim); len(waiting) == patterns.MaxBatchOps {
			if err := flush(); err != nil {
				return "", err
			}
		}
	}
	if len(waiting) > 0 {
		if err := flush(); err != nil {
			return "", err
		}
	}
	if loaded == 0 {
		return "", errors.New("the file has no valid line")
	}
	text := fmt.Sprintf("appended %d expense claim%s", loaded, account.Plural(loaded))
	if skipped > 0 {
		text += fmt.Sprintf(", skipped %d line%s", skipped, account.Plural(skipped))
	}
	return text, nil
}

func (d *demo) storeEmployees(ctx context.Context) (string, error) {
	defer d.progress.done()
	report, err := d.employees.Bulk(ctx, func(yield func(patterns.Op[Employee]) bool) {
		for _, e := range d.people {
			if !yield(patterns.UpsertOp(&e, patterns.Replace)) {
				return
			}
		}
	}, &patterns.BulkOptions{Progress: func(p patterns.Progress) { d.progress.at("employees", p.Done) }})
	return fmt.Sprintf("stored %d employee%s, one transaction per department", report.Done, account.Plural(report.Done)), err
}

// first returns the key of the first employee.
func (d *demo) first() keys.Key {
	return slices.MinFunc(slices.Collect(maps.Keys(d.people)), keys.Key.Compare)
}

func (d *demo) readOne(ctx context.Context) (string, error) {
	item, err := d.employees.Get(ctx, d.first())
	return fmt.Sprintf("read %s %s by department and id", item.Value.FirstName, item.Value.LastName), err
}

func (d *demo) birthday(ctx context.Context) (string, error) {
	item, err := d.employees.Update(ctx, d.first(), func(e *Employee) error { e.Age++; return nil })
	return fmt.Sprintf("raised the age of %s to %d, with optimistic concurrency", item.Value.FirstName, item.Value.Age), err
}

func (d *demo) department(ctx context.Context) (string, error) {
	name, n := d.first().Partition, 0
	for _, err := range d.employees.Query(ctx, query.PartitionKey.Eq(name), nil) {
		if err != nil {
			return "", err
		}
		n++
	}
	return fmt.Sprintf("listed the %d employee%s of %s", n, account.Plural(n), name), nil
}

func (d *demo) lastClaims(ctx context.Context) (string, error) {
	fmt.Fprintln(d.out, "\nthe last 10 claims:")
	for entry, err := range d.claims.Tail(ctx, stream, 10) {
		if err != nil {
			return "", err
		}
		c := entry.Value
		fmt.Fprintf(d.out, "  %s  %s  %8.2f  %s\n", entry.Time.Format("2006-01-02 15:04"), c.EmployeeID, c.Amount, c.Purpose)
	}
	return "read the last 10 claims from four partitions, newest first", nil
}
