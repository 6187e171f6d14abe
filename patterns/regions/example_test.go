package regions_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func Example() {
	type Employee struct {
		PartitionKey, RowKey string
		Age                  int32
	}
	ctx := context.Background()
	account := storagetest.Start(nil) // or a real one
	account.Replicate(0)              // after 0 seconds

	var pair regions.Pair
	opts := &aztables.ClientOptions{}
	opts.Transport = account.Transport()
	patterns.Accelerate(&opts.ClientOptions)
	pair.Attach(&opts.ClientOptions)
	service, err := aztables.NewServiceClientFromConnectionString(account.ConnectionString(), opts)
	if err != nil {
		log.Fatal(err)
	}
	pair.Use(service)
	rows, err := patterns.NewTable[Employee](service.NewClient("Employees"), nil)
	if err != nil {
		log.Fatal(err)
	}
	employees, err := regions.NewTable(rows, nil)
	if err != nil {
		log.Fatal(err)
	}

	if err := rows.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := rows.Insert(ctx, &Employee{"Sales", "00010", 35}); err != nil {
		log.Fatal(err)
	}
	account.Down(storagetest.Primary)

	item, err := employees.Get(ctx, keys.Key{Partition: "Sales", Row: "00010"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item.Value.Age, "from the", item.Region, "which is less than 10 seconds old:", item.MaxAge < 10*time.Second)
	// Output:
	// 35 from the secondary which is less than 10 seconds old: true
}
