package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Employee is stored at its department and its id.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	Salary     float64
}

// staff returns a new table in an account in this process. ExampleAccelerate shows the client
// of a program.
func staff(ctx context.Context) (*patterns.Table[Employee], error) {
	account := storagetest.Start(nil)
	table, err := patterns.NewTable[Employee](account.Tables().NewClient("Staff"), nil)
	if err != nil {
		return nil, err
	}
	return table, table.Create(ctx)
}

func Example() {
	ctx := context.Background()
	table, err := staff(ctx)
	if err != nil {
		log.Fatal(err)
	}
	ann := Employee{Department: "sales", ID: "000123", Name: "Ann", Salary: 50_000}
	item, err := table.Insert(ctx, &ann)
	if err != nil {
		log.Fatal(err)
	}
	_, err = table.Insert(ctx, &ann)
	fmt.Println("again:", errors.Is(err, patterns.ErrExists))

	read, err := table.Get(ctx, keys.Key{Partition: "sales", Row: "000123"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Value.Name, read.Value.Salary, read.ETag == item.ETag)

	if err := table.Delete(ctx, read.Key, read.ETag); err != nil {
		log.Fatal(err)
	}
	_, err = table.Get(ctx, read.Key)
	fmt.Println("deleted:", errors.Is(err, patterns.ErrNotFound))
	// Output:
	// again: true
	// Ann 50000 true
	// deleted: true
}

func ExampleTable_Update() {
	ctx := context.Background()
	table, err := staff(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := table.Insert(ctx, &Employee{Department: "sales", ID: "000123", Salary: 50_000}); err != nil {
		log.Fatal(err)
	}
	// The function runs again if another client has changed the row meanwhile.
	item, err := table.Update(ctx, keys.Key{Partition: "sales", Row: "000123"}, func(e *Employee) error {
		e.Salary += 1_000
		return nil
	})
	fmt.Println(item.Value.Salary, err)
	// Output: 51000 <nil>
}

func ExampleTable_Replace() {
	ctx := context.Background()
	table, err := staff(ctx)
	if err != nil {
		log.Fatal(err)
	}
	mine, err := table.Insert(ctx, &Employee{Department: "sales", ID: "000123", Name: "Ann"})
	if err != nil {
		log.Fatal(err)
	}
	yours := mine
	yours.Value.Name = "Anne"
	if _, err := table.Replace(ctx, yours); err != nil {
		log.Fatal(err)
	}
	mine.Value.Name = "Anna" // read before yours was written
	_, err = table.Replace(ctx, mine)
	fmt.Println("conflict:", errors.Is(err, patterns.ErrConflict))
	// Output: conflict: true
}

func ExampleBatch() {
	ctx := context.Background()
	table, err := staff(ctx)
	if err != nil {
		log.Fatal(err)
	}
	ann := Employee{Department: "sales", ID: "000123", Name: "Ann"}
	bob := Employee{Department: "sales", ID: "000124", Name: "Bob"}
	result, err := table.Batch().Insert(&ann).Insert(&bob).Commit(ctx)
	fmt.Println(len(result.ETags), err)

	// All or nothing: Carl is not stored, because Ann is already stored.
	carl := Employee{Department: "sales", ID: "000125", Name: "Carl"}
	_, err = table.Batch().Insert(&carl).Insert(&ann).Commit(ctx)
	var failed *patterns.BatchError
	if errors.As(err, &failed) {
		fmt.Println(failed.Index, failed.Op, failed.Key.Row, failed.Code, errors.Is(err, patterns.ErrExists))
	}
	_, err = table.Get(ctx, keys.Key{Partition: "sales", Row: "000125"})
	fmt.Println("Carl:", errors.Is(err, patterns.ErrNotFound))
	// Output:
	// 2 <nil>
	// 1 insert 000123 EntityAlreadyExists true
	// Carl: true
}

// Department is another type of row, in the partition of its employees.
type Department struct {
	Name  string `table:"PartitionKey"`
	Row   string `table:"RowKey"`
	Heads int32
}

func ExampleAddTo() {
	ctx := context.Background()
	table, err := staff(ctx)
	if err != nil {
		log.Fatal(err)
	}
	departments, err := patterns.NewTable[Department](table.Client(), nil)
	if err != nil {
		log.Fatal(err)
	}
	ann := Employee{Department: "sales", ID: "000123", Name: "Ann"}
	sales := Department{Name: "sales", Row: "~department", Heads: 1}
	batch := table.Batch().Insert(&ann)
	patterns.AddTo(batch, departments, patterns.InsertOp(&sales))
	result, err := batch.Commit(ctx)
	fmt.Println(len(result.ETags), err)

	row, err := departments.Get(ctx, keys.Key{Partition: "sales", Row: "~department"})
	fmt.Println(row.Value.Heads, err)
	// Output:
	// 2 <nil>
	// 1 <nil>
}

func ExampleTable_Bulk() {
	ctx := context.Background()
	table, err := staff(ctx)
	if err != nil {
		log.Fatal(err)
	}
	var ops []patterns.Op[Employee]
	for i := range 250 {
		department := []string{"sales", "lab"}[i%2]
		ops = append(ops, patterns.InsertOp(&Employee{Department: department, ID: fmt.Sprintf("%06d", i)}))
	}
	ops = append(ops, patterns.InsertOp(&Employee{Department: "a/b", ID: "1"})) // an illegal key
	report, err := table.Bulk(ctx, slices.Values(ops), nil)
	fmt.Println(report.Done, "applied in", report.Requests, "requests")
	for _, f := range report.Failures {
		fmt.Println("operation", f.Index, "bad key:", errors.Is(f.Err, patterns.ErrBadKey))
	}
	fmt.Println("error:", err != nil)
	// Output:
	// 250 applied in 4 requests
	// operation 250 bad key: true
	// error: true
}

func ExampleAccelerate() {
	account := storagetest.Start(nil) // in place of an account in Azure

	var opts aztables.ClientOptions
	opts.Transport = account.Transport()
	patterns.Accelerate(&opts.ClientOptions)
	service, err := aztables.NewServiceClientFromConnectionString(account.ConnectionString(), &opts)
	if err != nil {
		log.Fatal(err)
	}
	table, err := patterns.NewTable[Employee](service.NewClient("Staff"), nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := table.Create(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = table.Insert(ctx, &Employee{Department: "sales", ID: "000123"})
	fmt.Println(err)
	// Output: <nil>
}
