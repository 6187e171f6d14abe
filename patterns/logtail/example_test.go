package logtail_test

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

// Expense is an expense claim. It has no keys: they consist of the stream and the time.
type Expense struct {
	What   string
	Amount float64
	Filed  time.Time
}

func Example() {
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)

	expenses, err := logtail.New(service.NewClient("Expenses"), &logtail.Options[Expense]{
		Time: func(e *Expense) time.Time { return e.Filed },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := expenses.Create(ctx); err != nil {
		log.Fatal(err)
	}

	for i, what := range []string{"taxi", "hotel", "train", "lunch"} {
		filed := time.Date(2026, 1, 1+i, 9, 0, 0, 0, time.UTC)
		if _, err := expenses.Append(ctx, "000123", &Expense{what, 10.5 * float64(i+1), filed}); err != nil {
			log.Fatal(err)
		}
	}
	acct.ResetLog()

	for e, err := range expenses.Tail(ctx, "000123", 3) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Time.Format(time.DateOnly), e.Value.What, e.Value.Amount)
	}
	fmt.Println(len(acct.Log()), "request")
	// Output:
	// 2026-01-04 lunch 42
	// 2026-01-03 train 31.5
	// 2026-01-02 hotel 21
	// 1 request
}

// One month of a busy stream that is spread over four partitions is read in one order.
func ExampleLog_Range() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	clicks, err := logtail.New(acct.Tables().NewClient("Clicks"), &logtail.Options[Expense]{
		Time:    func(e *Expense) time.Time { return e.Filed },
		Buckets: 4,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := clicks.Create(ctx); err != nil {
		log.Fatal(err)
	}
	for month := time.January; month <= time.March; month++ {
		for _, day := range []int{1, 15} {
			e := Expense{What: fmt.Sprintf("%v %d", month, day), Filed: time.Date(2026, month, day, 0, 0, 0, 0, time.UTC)}
			if _, err := clicks.Append(ctx, "sales", &e); err != nil {
				log.Fatal(err)
			}
		}
	}

	from := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 1, 0) // the end is excluded
	for e, err := range clicks.Range(ctx, "sales", from, to) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Value.What)
	}
	// Output:
	// February 15
	// February 1
}

// The cursor can be part of the link to the next page.
func ExampleLog_Page() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	expenses, err := logtail.New[Expense](acct.Tables().NewClient("Expenses"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := expenses.Create(ctx); err != nil {
		log.Fatal(err)
	}
	var claims []Expense
	for _, what := range []string{"taxi", "hotel", "train", "lunch", "phone"} {
		claims = append(claims, Expense{What: what, Filed: time.Now()})
	}
	if _, err := expenses.AppendAll(ctx, "000123", claims); err != nil { // one transaction
		log.Fatal(err)
	}

	var everything time.Time // no beginning, no end
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := expenses.Page(ctx, "000123", everything, everything, cursor, &patterns.QueryOptions{Limit: 2})
		if err != nil {
			log.Fatal(err)
		}
		var names []string
		for _, e := range page.Entries {
			names = append(names, e.Value.What)
		}
		fmt.Println(names)
		cursor = page.Cursor
	}
	// Output:
	// [phone lunch]
	// [train hotel]
	// [taxi]
}
