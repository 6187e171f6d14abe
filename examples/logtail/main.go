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
	"log"
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

// open declares the log, and creates its table. Without Time, the time of an entry is that of its Append.
func open(ctx context.Context, client *aztables.Client) (*logtail.Log[Expense], error) {
	expenses, err := logtail.New(client, &logtail.Options[Expense]{Time: func(e *Expense) time.Time { return e.Filed }})
	if err != nil {
		return nil, err
	}
	return expenses, expenses.Create(ctx)
}

// newest returns the dates of the newest claims: the service reads that many rows, however long the log is.
func newest(ctx context.Context, expenses *logtail.Log[Expense], employee string, n int) (dates []string, err error) {
	for e, err := range expenses.Tail(ctx, employee, n) {
		if err != nil {
			return nil, err
		}
		dates = append(dates, e.Time.Format(time.DateOnly))
	}
	return dates, nil
}

// count counts the claims between two times: a range of row keys.
func count(ctx context.Context, expenses *logtail.Log[Expense], employee string, from, to time.Time) (n int, err error) {
	for _, err := range expenses.Range(ctx, employee, from, to) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	expenses, err := open(ctx, acct.TablesWith(&opts).NewClient("Expenses"))
	if err != nil {
		log.Fatal(err)
	}
	january := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	var claims []Expense
	for day := 1; day <= 50; day++ {
		claims = append(claims, Expense{"hotel", 100, january.AddDate(0, 0, day)})
	}
	cursor := "" // can be part of a link; newer claims do not move the following pages
	next := func() (any, error) {
		page, err := expenses.Page(ctx, "000123", time.Time{}, time.Time{}, cursor, &patterns.QueryOptions{Limit: 20})
		if err != nil {
			return nil, err
		}
		cursor = page.Cursor
		return page.Entries[0].Time.Format(time.DateOnly) + " and older", nil
	}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"append a claim", func() (any, error) { // its key is chosen once, so a retry cannot store the entry twice
			_, err := expenses.Append(ctx, "000123", &Expense{"taxi", 10.5, january})
			return nil, err
		}},
		{"append 50 claims", func() (any, error) { // one transaction
			_, err := expenses.AppendAll(ctx, "000123", claims)
			return nil, err
		}},
		{"the three newest", func() (any, error) { return newest(ctx, expenses, "000123", 3) }},
		{"the claims of three days", func() (any, error) {
			n, err := count(ctx, expenses, "000123", january, january.AddDate(0, 0, 3))
			return fmt.Sprint(n, " claims"), err
		}},
		{"a page of 20", next},
		{"a page of 20", next},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		sent := acct.Log()
		fmt.Printf("%-42s requests: %d %v, rows read: %d\n", step.name, len(sent), sent.Ops(), sent.Scanned())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
