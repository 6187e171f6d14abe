package heat_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// A program on aztables has a meter after one more line.
func ExampleMeter() {
	ctx := context.Background()
	account := storagetest.Start(&storagetest.Options{PageScan: 10}) // as if the table were large
	opts := &aztables.ClientOptions{}
	opts.Transport = account.Transport()

	now := time.Now() // a real program has no Clock
	meter, err := heat.NewMeter(&heat.Options{Clock: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	meter.Attach(&opts.ClientOptions)

	service, err := aztables.NewServiceClientFromConnectionString(account.ConnectionString(), opts)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := service.CreateTable(ctx, "People", nil); err != nil {
		log.Fatal(err)
	}
	people := service.NewClient("People")
	for i := range 50 {
		person := fmt.Appendf(nil, `{"PartitionKey":"Sales","RowKey":"%06d","Email":"p%d@example.com"}`, i, i)
		if _, err := people.AddEntity(ctx, person, nil); err != nil {
			log.Fatal(err)
		}
	}
	filter := "Email eq 'p7@example.com'"
	for range 25 {
		now = now.Add(10 * time.Second)
		for pager := people.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pager.More(); {
			if _, err := pager.NextPage(ctx); err != nil {
				log.Fatal(err)
			}
		}
	}

	for _, f := range meter.Findings() {
		fmt.Println(f.Resource, "has", f.Kind)
		fmt.Println(f.Observed)
	}
	// Output:
	// People has table scans
	// 25 queries had no partition key: 125 requests, 71% of all of the table, for 25 rows.
}

// Before there is traffic, Check finds what a design will cost.
func ExampleCheck() {
	type event struct {
		Employee string
		Number   int `key:"digits=6"`
	}
	layout, err := keys.NewLayout[event](nil)
	if err != nil {
		log.Fatal(err)
	}
	costs, findings, err := heat.Check("Events",
		heat.Write("new event", func(i int, at time.Time) (keys.Key, error) {
			row, err := layout.Format(event{fmt.Sprintf("e%d", i%40), i})
			return keys.Key{Partition: at.Format("2006010215"), Row: row}, err
		}, 2500),
		heat.Read("events of an employee", query.RowKey.Prefix("e7_"), 2),
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range costs {
		fmt.Println(c.Access, c.Requests, "request")
	}
	for _, f := range findings {
		fmt.Println(f.Resource, "will have", f.Kind)
	}
	// Output:
	// new event 1 request
	// events of an employee 1 request
	// Events will have append-only keys
}
