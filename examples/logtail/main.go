// Command logtail reads the newest expense claims of an employee: the log tail pattern.
//
// Problem: a query returns rows in the order of their keys, and the service has no "last n rows". With a time as row
// key, the newest rows are at the end of the partition.
//
// Layout: the row key begins with the ticks from the time to the end of the year 9999, in 19 digits. The newest entry
// is the first row. The rest of the key keeps entries of the same time apart.
//
//	PartitionKey  RowKey                                             Properties
//	000123        2516350751999999999_9f3ac01d2e4b5a67_fffffffffffe  What, Amount, Filed
//
// Use it if the newest entries are read first. All new entries are inserted at one place of the partition: for more
// than 2,000 a second, spread a stream with logtail.Options.Buckets.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Expense is an entry. It has no keys: they consist of the stream and the time.
type Expense struct {
	What   string
	Amount float64
	Filed  time.Time
}

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	show := func(step string, result ...any) {
		log := acct.Log()
		fmt.Fprintf(w, "%-42s requests: %d %v, rows read: %d\n", step, len(log), log.Ops(), log.Scanned())
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the log. Without Time, the time of an entry is that of its Append.
	expenses, err := logtail.New(service.NewClient("Expenses"), &logtail.Options[Expense]{
		Time: func(e *Expense) time.Time { return e.Filed },
	})
	if err != nil {
		return err
	}
	if err := expenses.Create(ctx); err != nil {
		return err
	}
	acct.ResetLog()

	// 2. Append a claim, and 50 more in one transaction. Each key is chosen once, so a retry cannot store an entry twice.
	january := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	if _, err := expenses.Append(ctx, "000123", &Expense{"taxi", 10.5, january}); err != nil {
		return err
	}
	show("append a claim")
	var claims []Expense
	for day := 1; day <= 50; day++ {
		claims = append(claims, Expense{"hotel", 100, january.AddDate(0, 0, day)})
	}
	if _, err := expenses.AppendAll(ctx, "000123", claims); err != nil {
		return err
	}
	show("append 50 claims")

	// 3. Read the three newest: the service reads three rows, however long the log is.
	var dates []string
	for e, err := range expenses.Tail(ctx, "000123", 3) {
		if err != nil {
			return err
		}
		dates = append(dates, e.Time.Format(time.DateOnly))
	}
	show("the three newest", dates)

	// 4. Read the claims of three days: a range of row keys.
	found := 0
	for _, err := range expenses.Range(ctx, "000123", january, january.AddDate(0, 0, 3)) {
		if err != nil {
			return err
		}
		found++
	}
	show("the claims of three days", found, "claims")

	// 5. Read page by page: the cursor can be part of a link, and newer claims do not move the following pages.
	cursor := ""
	for range 2 {
		page, err := expenses.Page(ctx, "000123", time.Time{}, time.Time{}, cursor, &logtail.PageOptions{Limit: 20})
		if err != nil {
			return err
		}
		show("a page of 20", page.Entries[0].Time.Format(time.DateOnly), "and older")
		cursor = page.Cursor
	}
	return nil
}
