package access_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A client that has only a token for one partition.
func Example() {
	ctx := context.Background()
	account := storagetest.Start(nil)
	owner := account.Tables()
	if _, err := owner.CreateTable(ctx, "Claims", nil); err != nil {
		panic(err)
	}
	for _, user := range []string{"alice", "bob"} {
		row := fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"1","Amount":10}`, user)
		if _, err := owner.NewClient("Claims").AddEntity(ctx, []byte(row), nil); err != nil {
			panic(err)
		}
	}

	// In the trusted service:
	cred, err := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		panic(err)
	}
	token, err := access.Sign(cred, storagetest.TablesURL, access.Scope{
		Table:  "Claims",
		Range:  access.Partition("alice"),
		Allow:  access.Read | access.Upsert,
		Expiry: time.Now().Add(time.Hour),
	})
	if err != nil {
		panic(err)
	}

	// In alice's client:
	client, err := token.Client(&aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: account.Transport()}})
	if err != nil {
		panic(err)
	}
	for _, user := range []string{"alice", "bob"} {
		_, err := client.GetEntity(ctx, user, "1", nil)
		var refusal *azcore.ResponseError
		if errors.As(err, &refusal) {
			fmt.Println(user, refusal.StatusCode, refusal.ErrorCode)
			continue
		}
		fmt.Println(user, "read")
	}
	// Output:
	// alice read
	// bob 403 AuthorizationFailure
}

// A web service issues each user a token for the user's own partition, so that
// the browser or the phone accesses the table directly.
func ExampleSign() {
	cred, err := aztables.NewSharedKeyCredential("acct", "bm90IGEga2V5LCBidXQgZ29vZCBmb3IgYW4gZXhhbXBsZQ==")
	if err != nil {
		panic(err)
	}
	token, err := access.Sign(cred, "https://acct.table.core.windows.net", access.Scope{
		Table:  "Claims",
		Range:  access.Partition("alice@example.com"),
		Allow:  access.Read | access.Upsert,
		Expiry: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		panic(err)
	}
	query, _ := url.ParseQuery(token.Query())
	for _, name := range []string{"tn", "sp", "spk", "epk", "se", "spr"} {
		fmt.Println(name, query.Get(name))
	}
	fmt.Println(token) // safe to log
	// Output:
	// tn claims
	// sp rau
	// spk alice@example.com
	// epk alice@example.com
	// se 2099-01-01T00:00:00Z
	// spr https
	// https://acct.table.core.windows.net/Claims?sig=REDACTED
}

// A range of the table's key schema becomes the range of the token: here the index rows
// of one department, without its employees.
func ExampleRows() {
	index := access.Rows("Sales", keys.Prefix("email_"))
	fmt.Println(index.Contains(keys.Key{Partition: "Sales", Row: "email_jonesj"}))
	fmt.Println(index.Contains(keys.Key{Partition: "Sales", Row: "empid_000223"}))
	fmt.Println(index.Contains(keys.Key{Partition: "Marketing", Row: "email_jonesj"}))
	// Output:
	// true
	// false
	// false
}

// A range is not a rectangle: a row key is a bound only in the partition that it is
// paired with.
func ExampleBetween() {
	r := access.Between(keys.Key{Partition: "2026-01", Row: "15"}, keys.Key{Partition: "2026-03", Row: "15"})
	fmt.Println(r.Contains(keys.Key{Partition: "2026-01", Row: "14"}))
	fmt.Println(r.Contains(keys.Key{Partition: "2026-02", Row: "31"}))
	// Output:
	// false
	// true
}
