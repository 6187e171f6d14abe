// Command access lets a user read and write the user's own rows directly: shared access signatures.
//
// Problem: a client on the device of a user must not have the key of the account, and a service that passes on each
// request costs time and money.
//
// Layout: the partition key is the user. A trusted service signs a token for one partition, which permits some
// operations for a limited time. The client sends its requests with the token directly to the Table service.
//
//	PartitionKey  RowKey  Properties
//	alice         1       Amount
//	bob           1       Amount
//
// Use it to keep the key of the account on servers. A token cannot be revoked by itself: let it expire soon, or refer to
// a stored access policy (access.Scope.Policy).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Claim is an expense claim of a user.
type Claim struct {
	User   string `table:"PartitionKey"`
	ID     string `table:"RowKey"`
	Amount float64
}

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and the constants of storagetest by the
	// name, key and address of the account; remove what else uses acct.
	acct := storagetest.Start(nil)
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	service := acct.TablesWith(&opts)
	show := func(step string, result ...any) {
		ops := acct.Log().Ops()
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(ops), ops)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}

	// 1. The trusted service owns the table.
	claims, err := patterns.NewTable[Claim](service.NewClient("Claims"), nil)
	if err != nil {
		return err
	}
	if err := claims.Create(ctx); err != nil {
		return err
	}
	for _, user := range []string{"alice", "bob"} {
		if _, err := claims.Insert(ctx, &Claim{user, "1", 10.5}); err != nil {
			return err
		}
	}
	acct.ResetLog()

	// 2. It signs a token for alice. That takes no request.
	credential, err := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		return err
	}
	token, err := access.Sign(credential, storagetest.TablesURL, access.Scope{
		Table:  "Claims",
		Range:  access.Partition("alice"),
		Allow:  access.Read | access.Add,
		Expiry: time.Now().Add(time.Hour),
	})
	if err != nil {
		return err
	}
	show("sign a token", token) // printing it omits the signature

	// 3. The client of alice has only token.URL(), and works like any other.
	ownOpts := aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: acct.Transport()}}
	patterns.Accelerate(&ownOpts.ClientOptions)
	client, err := token.Client(&ownOpts)
	if err != nil {
		return err
	}
	own, err := patterns.NewTable[Claim](client, nil)
	if err != nil {
		return err
	}
	if _, err := own.Insert(ctx, &Claim{"alice", "2", 21}); err != nil {
		return err
	}
	show("alice adds a claim")
	sum := 0.0
	for claim, err := range own.Query(ctx, query.PartitionKey.Eq("alice"), nil) {
		if err != nil {
			return err
		}
		sum += claim.Value.Amount
	}
	show("alice reads her claims", "sum", sum)

	// 4. The service refuses what the token does not permit: rows of other users, and other operations.
	_, err = own.Get(ctx, keys.Key{Partition: "bob", Row: "1"})
	show("alice reads a claim of bob", refusal(err))
	err = own.Delete(ctx, keys.Key{Partition: "alice", Row: "1"}, azcore.ETagAny)
	show("alice deletes a claim", refusal(err))
	return nil
}

// refusal returns the status and the code of the service's refusal.
func refusal(err error) string {
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) {
		return fmt.Sprintf("not refused: %v", err)
	}
	return fmt.Sprint(refused.StatusCode, " ", refused.ErrorCode)
}
