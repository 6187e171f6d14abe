package wideentity_test

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// A count of messages for each day of a year is more than the 252 properties that
// one row can have.
func Example() {
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)

	counts, err := wideentity.New[map[string]any](service.NewClient("Counts"), &wideentity.Options[map[string]any]{Parts: 3})
	if err != nil {
		log.Fatal(err)
	}
	if err := counts.Create(ctx); err != nil {
		log.Fatal(err)
	}
	year := map[string]any{"PartitionKey": "Sales", "RowKey": "000123"}
	for day := 1; day <= 365; day++ {
		year[fmt.Sprintf("MessageCountDay%03d", day)] = int32(day * 10)
	}
	acct.ResetLog()
	if _, err := counts.Insert(ctx, &year); err != nil { // one transaction
		log.Fatal(err)
	}
	key := keys.Key{Partition: "Sales", Row: "000123"}
	item, err := counts.Get(ctx, key) // one query
	if err != nil {
		log.Fatal(err)
	}
	item.Value["MessageCountDay300"] = int32(1)
	if _, err := counts.Merge(ctx, item, "MessageCountDay300"); err != nil { // two rows of four
		log.Fatal(err)
	}
	part, err := counts.GetOnly(ctx, key, "MessageCountDay300") // one point read
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(acct.Log()), "requests")
	fmt.Println(item.Value["MessageCountDay001"], item.Value["MessageCountDay365"], part.Value["MessageCountDay300"])
	// Output:
	// 4 requests
	// 10 3650 1
}
