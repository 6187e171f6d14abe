package patterns_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type Colleague struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	LastName   string
	Age        int32
}

// colleagues returns a table with some rows, in an account in this process.
func colleagues(ctx context.Context) (*patterns.Table[Colleague], *storagetest.Account) {
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	table, err := patterns.NewTable[Colleague](acct.TablesWith(&opts).NewClient("Staff"), nil)
	if err == nil {
		err = table.Create(ctx)
	}
	for _, e := range []Colleague{
		{"Marketing", "211", "Brown", 51}, {"Sales", "121", "Jones", 34}, {"Sales", "122", "Smith", 28},
		{"Sales", "322", "Cao", 47}, {"Sales", "323", "Hall", 61},
	} {
		if err == nil {
			_, err = table.Insert(ctx, &e)
		}
	}
	if err != nil {
		panic(err) // impossible in this process
	}
	acct.ResetLog()
	return table, acct
}

func ExampleTable_Query() {
	ctx := context.Background()
	table, _ := colleagues(ctx)
	f := query.And(query.PartitionKey.Eq("Sales"), query.Prop("Age").Ge(int32(30)))
	for item, err := range table.Query(ctx, f, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Key.Row, item.Value.LastName)
	}
	// Output:
	// 121 Jones
	// 322 Cao
	// 323 Hall
}

// For several row keys joined by "or" the service would read the whole partition. They are
// read with one point read each.
func ExampleTable_Query_points() {
	ctx := context.Background()
	table, acct := colleagues(ctx)
	f := query.And(query.PartitionKey.Eq("Sales"), query.RowKey.In("322", "121", "999"))
	for item, err := range table.Query(ctx, f, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Key.Row, item.Value.LastName)
	}
	fmt.Println(len(acct.Log()), "requests,", acct.Log().Scanned(), "rows read")
	// Output:
	// 121 Jones
	// 322 Cao
	// 3 requests, 2 rows read
}

// A filter that would read the whole table is refused, with its plan, before any request.
// QueryOptions.Allow permits it.
func ExampleTable_Query_guard() {
	ctx := context.Background()
	table, acct := colleagues(ctx)
	f := query.Prop("LastName").Eq("Cao")
	for _, err := range table.Query(ctx, f, nil) {
		var scan *query.ScanError
		if errors.As(err, &scan) {
			fmt.Println(scan.Plan)
		}
	}
	fmt.Println(len(acct.Log()), "requests")

	for item, err := range table.Query(ctx, f, &patterns.QueryOptions{Allow: query.TableScan}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Key.Partition, item.Key.Row)
	}
	// Output:
	// TableScan  (requests at least 1, comparisons 1)
	//   ->  TableScan      LastName eq ?
	//   Warning unbounded-property: "LastName": only the keys are indexed, and no condition on the partition key limits the rows to read. Select the partition with PartitionKey eq, or maintain an index on the property.
	// 0 requests
	// Sales 322
}

// A page and its cursor suit a web page with a "next" link: the link contains the cursor, and
// another process may continue.
func ExampleTable_Page() {
	ctx := context.Background()
	table, _ := colleagues(ctx)
	f := query.PartitionKey.Eq("Sales")
	for cursor, n := "", 1; ; n++ {
		page, err := table.Page(ctx, f, cursor, &patterns.QueryOptions{PageSize: 3})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, item := range page.Items {
			fmt.Println("page", n, item.Value.LastName)
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	_, err := table.Page(ctx, f, "made-up", nil)
	fmt.Println(errors.Is(err, patterns.ErrBadCursor))
	// Output:
	// page 1 Jones
	// page 1 Smith
	// page 1 Cao
	// page 2 Hall
	// true
}

// A Reader reads only the properties of its type. The filter may use others.
func ExampleProject() {
	ctx := context.Background()
	table, _ := colleagues(ctx)
	names, err := patterns.Project[struct{ LastName string }](table)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := query.And(query.PartitionKey.Eq("Sales"), query.Prop("Age").Gt(int32(40)))
	for item, err := range names.Query(ctx, f, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Key.Row, item.Value.LastName, item.Projected())
	}
	// Output:
	// 322 Cao true
	// 323 Hall true
}

// A job that reads everything stores the cursor of the last page that it has processed, and
// resumes there.
func ExampleTable_Scan() {
	ctx := context.Background()
	table, _ := colleagues(ctx)
	opts := &patterns.QueryOptions{PageSize: 2, Parallel: 4}
	done, oldest := "", int32(0)
	for page, err := range table.Scan(ctx, query.Filter{}, "", opts) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, item := range page.Items {
			oldest = max(oldest, item.Value.Age)
		}
		done = page.Cursor
		break // the process is stopped here
	}
	var last patterns.Progress
	for page, err := range table.Scan(ctx, query.Filter{}, done, opts) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, item := range page.Items {
			oldest = max(oldest, item.Value.Age)
		}
		last = page.Progress
	}
	fmt.Println(last.Found, "rows, the oldest is", oldest)
	// Output:
	// 5 rows, the oldest is 61
}

// A page that fails is read again: each pair has the cursor from which the rest can be read.
func ExampleTable_Pages() {
	ctx := policy.WithRetryOptions(context.Background(), policy.RetryOptions{MaxRetries: -1}) // so that the SDK does not wait
	table, acct := colleagues(ctx)
	if err := acct.Fault(storagetest.On("Table.Query").Nth(2).Status(503, "ServerBusy")); err != nil {
		fmt.Println(err)
		return
	}
	cursor := ""
	for failed := true; failed; {
		failed = false
		for page, err := range table.Pages(ctx, query.PartitionKey.Eq("Sales"), cursor, &patterns.QueryOptions{PageSize: 2}) {
			cursor = page.Cursor // also if err is not nil
			if failed = err != nil; failed {
				fmt.Println("failed:", errors.Is(err, patterns.ErrThrottled))
				continue // the sequence ends
			}
			for _, item := range page.Items {
				fmt.Println(item.Key.Row, item.Value.LastName)
			}
		}
	}
	// Output:
	// 121 Jones
	// 122 Smith
	// failed: true
	// 322 Cao
	// 323 Hall
}
