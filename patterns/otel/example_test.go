package otel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/otel"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is a row.
type Employee struct {
	PartitionKey, RowKey string
	Name                 string
}

// A program reports its requests, its operations and the backlog of its queue to the global
// providers of OpenTelemetry. The README prints this function.
func report(queue *azqueue.QueueClient, acct *storagetest.Account) error {
	telemetry, err := otel.New(nil)
	if err != nil {
		return err
	}
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	telemetry.Attach(&opts.ClientOptions) // requests
	service := acct.TablesWith(&opts)
	provider := telemetry.Provider() // operations, and attempts of a worker
	table, err := patterns.NewTable(service.NewClient("Employees"), &patterns.TableOptions[Employee]{Tracing: provider})
	if err != nil {
		return err
	}
	backlog, err := telemetry.ObserveQueue(queue)
	if err != nil {
		return err
	}
	defer func() { _ = backlog.Unregister() }()
	if err := table.Create(context.Background()); err != nil {
		return err
	}
	item, err := table.Insert(context.Background(), &Employee{"Sales", "1", "Ken Kwok"})
	fmt.Println(item.Value.Name)
	return err
}

func Example() {
	acct := storagetest.Start(nil)
	if err := report(acct.Queue("jobs"), acct); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Ken Kwok
}
