package tablectl_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/tablectl"
)

type Person struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Email      string
	Badge      string
}

// NewPeople declares the Store. The service calls it too.
func NewPeople(people, badges *aztables.Client, jobs *azqueue.QueueClient) (*patterns.Store[Person], error) {
	email := secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.Email, true }, nil)
	badge := secondaryindex.Inter("badge", badges, func(p *Person) (string, bool) { return p.Badge, true }, nil)
	table, err1 := patterns.NewTable[Person](people, nil)
	outbox, err2 := eventual.NewOutbox(jobs, "", nil)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Person]{Views: []patterns.View[Person]{email, badge}, Outbox: outbox})
}

// The tool of a service: its main function passes the same arguments to Main.
func Example() {
	staff := tablectl.StoreOf("staff", func(a *tablectl.Account) (*patterns.Store[Person], error) {
		jobs, err := a.Queue("jobs")
		if err != nil {
			return nil, err
		}
		return NewPeople(a.Table("People"), a.Table("Badges"), jobs)
	})
	code := tablectl.Run(context.Background(), []string{"verify", "-demo", "staff"}, staff)
	fmt.Println("exit code", code)
	// Output:
	// orphan    email: row "Sales" "email_p3@example.com" of "Sales" "000003"
	// orphan    email: row "Sales" "email_p4@example.com" of "Sales" "000004"
	// orphan    badge: row "badge_Sales" "B0003" of "Sales" "000003"
	// orphan    badge: row "badge_Sales" "B0004" of "Sales" "000004"
	// 4 findings, 28 rows, 22 requests
	// exit code 1
}
