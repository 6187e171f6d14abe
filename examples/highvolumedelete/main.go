// Command highvolumedelete deletes the logins that are older than a day: the high-volume delete pattern.
//
// Problem: deleting many rows takes a query that finds them, and a request for each, or for each 100 of a partition.
//
// Layout: a table for each day, named after the day. Inside it the keys are the user and the time, the newest first. A
// day is deleted with its table, in one request.
//
//	Table           PartitionKey  RowKey
//	Logins20140730  donh          2519955575999999999
//	Logins20140731  donh          2519954711999999999
//
// Use it if rows that are written together are deleted together. A query of several days reads several tables.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Login is a login attempt. Its key is the user and the time.
type Login struct {
	User            string `table:"-"`
	At              time.Time
	SourceIPAddress string
	SuccessfulLogin bool
}

func loginKey(l *Login) (keys.Key, error) {
	ticks, err := keys.InvertedTicks(l.At)
	return keys.Key{Partition: l.User, Row: ticks}, err
}

// newLogins declares the set of tables. A table is created by the first write to its day.
func newLogins(service *aztables.ServiceClient) (*highvolumedelete.Tables[Login], error) {
	return highvolumedelete.New(service, "Logins", highvolumedelete.Day, &highvolumedelete.Options[Login]{
		Table: patterns.TableOptions[Login]{Key: loginKey},
	})
}

// count counts the logins of a user: a query for each table of the time range, the newest table first, and one request
// to list the tables.
func count(ctx context.Context, logins *highvolumedelete.Tables[Login], user string, from, to time.Time) (n int, err error) {
	newestFirst := &highvolumedelete.QueryOptions{NewestFirst: true}
	for _, err := range logins.Query(ctx, from, to, query.PartitionKey.Eq(user), newestFirst) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// deleteRows deletes the logins of a user on a day, for comparison: a query for their keys, and a transaction for each 100.
func deleteRows(ctx context.Context, logins *highvolumedelete.Tables[Login], user string, day time.Time) (n int, err error) {
	table, err := logins.Open(ctx, day)
	if err != nil {
		return 0, err
	}
	report, err := table.DeleteWhere(ctx, query.PartitionKey.Eq(user), "", nil)
	return report.Done, err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	logins, err := newLogins(acct.TablesWith(&opts))
	if err != nil {
		log.Fatal(err)
	}
	last := time.Date(2014, 7, 31, 18, 0, 0, 0, time.UTC)
	threeDays := func(yield func(Login) bool) {
		for i := range 3000 {
			l := Login{User: "donh", At: last.AddDate(0, 0, -i/1000).Add(-time.Duration(i%1000+1) * time.Second)}
			if !yield(l) {
				return
			}
		}
	}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"the first login of a day", func() (any, error) {
			_, err := logins.Insert(ctx, &Login{User: "donh", At: last, SuccessfulLogin: true})
			return nil, err
		}},
		{"3,000 logins of three days", func() (any, error) { // a transaction for each 100
			_, err := logins.Bulk(ctx, threeDays, patterns.InsertOp[Login], nil)
			return nil, err
		}},
		{"the logins of a user in three days", func() (any, error) {
			n, err := count(ctx, logins, "donh", last.AddDate(0, 0, -2), last)
			return fmt.Sprint(n, " logins"), err
		}},
		{"delete two days", func() (any, error) { // one request for each table, however many rows it contains
			report, err := logins.DropBefore(ctx, last, nil)
			return fmt.Sprint(len(report.Tables), " tables of 1,000 rows each"), err
		}},
		{"a late login", func() (any, error) { // refused without a request, because it would create the table again
			_, refused := logins.Insert(ctx, &Login{User: "junc", At: last.AddDate(0, 0, -2)})
			return refused, nil
		}},
		{"delete one day row by row", func() (any, error) {
			n, err := deleteRows(ctx, logins, "donh", last)
			return fmt.Sprint(n, " rows"), err
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		counts := map[string]int{}
		for _, op := range acct.Log().Ops() {
			counts[op]++
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), counts)
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
