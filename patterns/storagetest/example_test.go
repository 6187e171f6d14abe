package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// fill creates a table with n rows in each of the partitions.
func fill(acct *storagetest.Account, name string, n int, partitions ...string) *aztables.Client {
	client := acct.Tables().NewClient(name)
	if _, err := client.CreateTable(context.Background(), nil); err != nil {
		fmt.Println(err)
	}
	for _, p := range partitions {
		for i := range n {
			row := fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"%06d","Age":%d}`, p, i, 20+i%40)
			if _, err := client.AddEntity(context.Background(), []byte(row), nil); err != nil {
				fmt.Println(err)
			}
		}
	}
	acct.ResetLog()
	return client
}

// In a test, use New(t) instead of Start(nil).
func Example() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	people := acct.Tables().NewClient("people")
	if _, err := people.CreateTable(ctx, nil); err != nil {
		fmt.Println(err)
	}
	row := []byte(`{"PartitionKey":"Sales","RowKey":"000123","Name":"Jun Cao"}`)
	if _, err := people.AddEntity(ctx, row, nil); err != nil {
		fmt.Println(err)
	}
	_, err := people.AddEntity(ctx, row, nil)
	var refused *azcore.ResponseError
	if errors.As(err, &refused) {
		fmt.Println(refused.StatusCode, refused.ErrorCode)
	}
	// Output: 409 EntityAlreadyExists
}

// The cost of a query is the number of rows that the service examines. An "or" of two row
// keys makes it examine the whole partition.
func ExampleAccount_Log() {
	acct := storagetest.Start(nil)
	people := fill(acct, "people", 50, "Sales", "Support")
	for _, filter := range []string{
		"PartitionKey eq 'Sales' and RowKey eq '000007'",
		"PartitionKey eq 'Sales' and (RowKey eq '000007' or RowKey eq '000008')",
		"RowKey eq '000007'",
	} {
		acct.ResetLog()
		pager := people.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(filter)})
		for pager.More() {
			if _, err := pager.NextPage(context.Background()); err != nil {
				fmt.Println(err)
			}
		}
		returned := 0
		for _, q := range acct.Log() {
			returned += q.Returned
		}
		fmt.Println(filter, "returned", returned, "of", acct.Log().Scanned())
	}
	// Output:
	// PartitionKey eq 'Sales' and RowKey eq '000007' returned 1 of 1
	// PartitionKey eq 'Sales' and (RowKey eq '000007' or RowKey eq '000008') returned 2 of 50
	// RowKey eq '000007' returned 2 of 100
}

// The insert is carried out and its reply is lost. The SDK retries the request, which fails
// because the row exists.
func ExampleAccount_Fault() {
	acct := storagetest.Start(nil)
	people := fill(acct, "people", 0)
	acct.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
	_, err := people.AddEntity(context.Background(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)
	var refused *azcore.ResponseError
	if errors.As(err, &refused) {
		fmt.Println(refused.ErrorCode, "after", acct.Log().Count("Table.Insert"), "attempts")
	}
	// Output: EntityAlreadyExists after 2 attempts
}

// A page may be empty although more pages follow. This rule detects code that stops at an
// empty page.
func ExampleOn() {
	acct := storagetest.Start(nil)
	people := fill(acct, "people", 3, "Sales")
	acct.Fault(storagetest.On("Table.Query").EmptyPage())
	pager := people.NewListEntitiesPager(nil)
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(page.Entities), "rows, more:", pager.More())
	}
	// Output:
	// 0 rows, more: true
	// 3 rows, more: false
}

// Code that creates its own clients receives the connection string and the transport of the
// account instead of those of production.
func ExampleAccount_Transport() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	var opts azblob.ClientOptions
	opts.Transport = acct.Transport()
	blobs, err := azblob.NewClientFromConnectionString(acct.ConnectionString(), &opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := blobs.CreateContainer(ctx, "box", nil); err != nil {
		fmt.Println(err)
	}
	acct.Fault(storagetest.On("Blob.Put").Nth(1).Status(503, "ServerBusy"))
	if _, err := blobs.UploadBuffer(ctx, "box", "greeting", []byte("hello"), nil); err != nil {
		fmt.Println(err)
	}
	for _, q := range acct.Log().Only("Blob.Put") {
		fmt.Println(q.Op, q.Resource, q.Name, q.Status, q.Code)
	}
	// Output:
	// Blob.Put box greeting 503 ServerBusy
	// Blob.Put box greeting 201
}

// A message is delivered at least once. Redeliver delivers it twice.
func ExampleAccount_Queue() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	jobs := acct.Queue("jobs")
	if _, err := jobs.Create(ctx, nil); err != nil {
		fmt.Println(err)
	}
	if _, err := jobs.EnqueueMessage(ctx, "pay the bill", nil); err != nil {
		fmt.Println(err)
	}
	acct.Fault(storagetest.On("Queue.Get").Nth(1).Redeliver())
	for range 2 {
		got, err := jobs.DequeueMessage(ctx, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, m := range got.Messages {
			fmt.Println(*m.MessageText)
		}
	}
	// Output:
	// pay the bill
	// pay the bill
}

// An attempt that the client abandoned may arrive later. Here the SDK retries the insert, the
// row is deleted, and then the first attempt inserts the row again.
func ExampleRule_LateRequest() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	people := fill(acct, "people", 0)
	acct.Fault(storagetest.On("Table.Insert").Nth(1).LateRequest(time.Minute, time.Minute))
	if _, err := people.AddEntity(ctx, []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil); err != nil {
		fmt.Println(err)
	}
	if _, err := people.DeleteEntity(ctx, "p", "r", nil); err != nil {
		fmt.Println(err)
	}
	fmt.Println(acct.Arrive(), "request arrived late") // a test in virtual time can wait instead
	if _, err := people.GetEntity(ctx, "p", "r", nil); err == nil {
		fmt.Println("the deleted row exists again")
	}
	for _, q := range acct.Log() {
		fmt.Printf("%s -> %d%s\n", q.Op, q.Status, q.Fault)
	}
	// Output:
	// 1 request arrived late
	// the deleted row exists again
	// Table.Insert -> 201.LateRequest(1m0s, 1m0s).Arrived
	// Table.Insert -> 201
	// Table.Delete -> 204
	// Table.Get -> 200
}

// Other processes, in any language, use the connection string of the server.
func ExampleAccount_Serve() {
	server, err := storagetest.Start(nil).Serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	tables, err := aztables.NewServiceClientFromConnectionString(server.ConnectionString(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = tables.CreateTable(ctx, "people", nil)
	fmt.Println(err)
	// Output: <nil>
}

// Beyond the targets the account refuses requests until the next second. The retries of the SDK
// wait for it; in a bubble of testing/synctest that takes no time.
func ExampleAccount_Throttle() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	opts.Retry.MaxRetries = -1
	people := acct.TablesWith(&opts).NewClient("people")
	if _, err := people.CreateTable(ctx, nil); err != nil {
		fmt.Println(err)
	}
	acct.Throttle(&storagetest.Targets{Partition: 100})
	row := []byte(`{"PartitionKey":"p","RowKey":"1"}`)
	for {
		_, err := people.UpsertEntity(ctx, row, nil)
		var refused *azcore.ResponseError
		if errors.As(err, &refused) {
			fmt.Println(refused.StatusCode, refused.ErrorCode)
			break
		}
	}
	acct.Throttle(&storagetest.Targets{Partition: -1}) // the account still has its target
	_, err := people.UpsertEntity(ctx, row, nil)
	fmt.Println(err)
	// Output:
	// 503 ServerBusy
	// <nil>
}

// While the primary is down, its clients receive errors, and the secondary returns what it
// contained when the outage began.
func ExampleAccount_Replicate() {
	ctx := context.Background()
	acct := storagetest.Start(nil)
	people := fill(acct, "people", 1, "p")
	acct.Replicate(time.Hour)
	fill(acct, "places", 1, "p") // on the secondary in an hour
	acct.Down(storagetest.Primary)

	var opts aztables.ClientOptions
	opts.Retry.MaxRetries = -1
	opts.Transport = acct.Transport()
	key, err := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := aztables.NewServiceClientWithSharedKey(storagetest.SecondaryTablesURL, key, &opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, table := range []string{"people", "places"} {
		page, err := second.NewClient(table).NewListEntitiesPager(nil).NextPage(ctx)
		var refused *azcore.ResponseError
		if errors.As(err, &refused) {
			fmt.Println(table, refused.ErrorCode)
			continue
		}
		fmt.Println(table, len(page.Entities))
	}
	acct.Down() // the primary is back
	if _, err := people.GetEntity(ctx, "p", "000000", nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// people 1
	// places TableNotFound
}
