package govern_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A nightly job shares its partitions with users, who do not wait for it.
func Example() {
	account := storagetest.Start(nil)
	opts := &aztables.ClientOptions{}
	opts.Transport = account.Transport()
	patterns.Accelerate(&opts.ClientOptions)

	governor, err := govern.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	governor.Attach(&opts.ClientOptions)

	service, err := aztables.NewServiceClientFromConnectionString(account.ConnectionString(), opts)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := service.CreateTable(ctx, "People", nil); err != nil {
		log.Fatal(err)
	}
	type person struct{ PartitionKey, RowKey, Name string }
	people, err := patterns.NewTable[person](service.NewClient("People"), nil)
	if err != nil {
		log.Fatal(err)
	}
	// The job.
	if _, err := people.Insert(govern.Background(ctx), &person{"Sales", "1", "Ann"}); err != nil {
		log.Fatal(err)
	}
	// A user who does not wait longer than a second.
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	item, err := people.Get(ctx, keys.Key{Partition: "Sales", Row: "1"})
	var wait *govern.WaitError
	if errors.As(err, &wait) {
		fmt.Println("busy, try again in", wait.Wait)
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item.Value.Name)
	// Output: Ann
}
