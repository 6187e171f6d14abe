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
	"io"
	"log"
	"os"
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
		counts := map[string]int{}
		for _, op := range acct.Log().Ops() {
			counts[op]++
		}
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(acct.Log()), counts)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. Declare the set of tables. A table is created by the first write to its day.
	logins, err := highvolumedelete.New(service, "Logins", highvolumedelete.Day, &highvolumedelete.Options[Login]{
		Table: patterns.TableOptions[Login]{Key: loginKey},
	})
	if err != nil {
		return err
	}

	// 2. Insert one login, and then 1,000 logins of each of three days in bulk.
	last := time.Date(2014, 7, 31, 18, 0, 0, 0, time.UTC)
	if _, err := logins.Insert(ctx, &Login{User: "donh", At: last, SuccessfulLogin: true}); err != nil {
		return err
	}
	show("the first login of a day")
	all := func(yield func(Login) bool) {
		for i := range 3000 {
			l := Login{User: "donh", At: last.AddDate(0, 0, -i/1000).Add(-time.Duration(i%1000+1) * time.Second)}
			if !yield(l) {
				return
			}
		}
	}
	if _, err := logins.Bulk(ctx, all, patterns.InsertOp[Login], nil); err != nil {
		return err
	}
	show("3,000 logins of three days")

	// 3. Read the logins of a user: a query for each table of the time range, the newest table first, and one request
	// to list the tables.
	read := 0
	newestFirst := &highvolumedelete.QueryOptions{NewestFirst: true}
	for _, err := range logins.Query(ctx, last.AddDate(0, 0, -2), last, query.PartitionKey.Eq("donh"), newestFirst) {
		if err != nil {
			return err
		}
		read++
	}
	show("the logins of a user in three days", read, "logins")

	// 4. Delete the days before the last: one request for each table, however many rows it contains.
	report, err := logins.DropBefore(ctx, last, nil)
	if err != nil {
		return err
	}
	show("delete two days", len(report.Tables), "tables of 1,000 rows each")

	// 5. A late write to a deleted day is refused without a request; it would create the table again.
	_, err = logins.Insert(ctx, &Login{User: "junc", At: last.AddDate(0, 0, -2)})
	show("a late login", err)

	// 6. For comparison, delete the rows of the last day: a query for their keys, and a transaction for each 100.
	today, err := logins.Open(ctx, last)
	if err != nil {
		return err
	}
	done, err := today.DeleteWhere(ctx, query.PartitionKey.Eq("donh"), nil)
	if err != nil {
		return err
	}
	show("delete one day row by row", done.Deleted, "rows")
	return nil
}
