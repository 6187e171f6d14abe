package highvolumedelete_test

import (
	"context"
	"fmt"
	"log"
	"strings"
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

func Example() {
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process

	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	logins, err := highvolumedelete.New(acct.TablesWith(&opts), "Logins", highvolumedelete.Day,
		&highvolumedelete.Options[Login]{
			Table: patterns.TableOptions[Login]{Key: func(l *Login) (keys.Key, error) {
				ticks, err := keys.Ticks(l.At)
				return keys.Key{Partition: l.User, Row: ticks}, err
			}},
		})
	if err != nil {
		log.Fatal(err)
	}

	last := time.Date(2014, 7, 31, 18, 4, 0, 0, time.UTC)
	for _, user := range []string{"donh", "junc"} {
		for ago := range 4 {
			l := Login{User: user, At: last.AddDate(0, 0, -ago), SuccessfulLogin: true}
			if _, err := logins.Insert(ctx, &l); err != nil {
				log.Fatal(err)
			}
		}
	}

	// The latest logins of one user, from several tables.
	newest := &highvolumedelete.QueryOptions{NewestFirst: true}
	newest.Limit = 2
	for login, err := range logins.Query(ctx, time.Time{}, time.Time{}, query.PartitionKey.Eq("donh"), newest) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(login.Value.At.Format(time.DateTime))
	}

	// Delete all logins older than two days, with one request for each table.
	acct.ResetLog()
	report, err := logins.DropBefore(ctx, last.AddDate(0, 0, -2), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, table := range report.Tables {
		fmt.Println("dropped", table.Name)
	}
	fmt.Println(len(acct.Log()), "requests")

	_, err = logins.Insert(ctx, &Login{User: "kenk", At: last.AddDate(0, 0, -9)})
	fmt.Println(err)
	// Output:
	// 2014-07-31 18:04:00
	// 2014-07-30 18:04:00
	// dropped Logins20140728
	// 2 requests
	// insert: table Logins20140722: the period has been dropped: writes are accepted from 2014-07-29T00:00:00Z on
}

// The cursor can be part of the link to the next page.
func ExampleTables_Page() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	type Event struct {
		PartitionKey, RowKey string
		At                   time.Time
	}
	events, err := highvolumedelete.New[Event](acct.Tables(), "Events", highvolumedelete.Hour, nil)
	if err != nil {
		log.Fatal(err)
	}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5 {
		e := Event{"door", fmt.Sprint("event ", i), begin.Add(time.Duration(i) * 40 * time.Minute)}
		if _, err := events.Insert(ctx, &e); err != nil {
			log.Fatal(err)
		}
	}
	options := &highvolumedelete.QueryOptions{}
	options.Limit = 2
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := events.Page(ctx, begin, begin.AddDate(0, 0, 1), query.PartitionKey.Eq("door"), cursor, options)
		if err != nil {
			log.Fatal(err)
		}
		var found []string
		for _, item := range page.Items {
			found = append(found, item.Key.Row+item.Value.At.Format(" at 15:04"))
		}
		fmt.Println(strings.Join(found, ", "))
		cursor = page.Cursor
	}
	// Output:
	// event 0 at 00:00, event 1 at 00:40
	// event 2 at 01:20, event 3 at 02:00
	// event 4 at 02:40
}

// Delete the rows of one tenant from a table that all tenants share.
func Example_deleteWhere() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	type Document struct{ PartitionKey, RowKey, Title string }
	documents, err := patterns.NewTable[Document](acct.Tables().NewClient("Documents"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := documents.Create(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = documents.Bulk(ctx, func(yield func(patterns.Op[Document]) bool) {
		for i := range 1000 {
			tenant := []string{"contoso", "fabrikam"}[i%2]
			if !yield(patterns.InsertOp(&Document{tenant, fmt.Sprintf("%04d", i), "a title"})) {
				return
			}
		}
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	done, err := documents.DeleteWhere(ctx, query.PartitionKey.Eq("fabrikam"), "", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Done, "documents, fewer than 10 requests:", done.Requests < 10)
	// Output:
	// 500 documents, fewer than 10 requests: true
}
