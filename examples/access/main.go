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
	"log"
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

// sign returns a token with which a user can read and add the user's own rows for an hour. It takes no request.
func sign(credential *aztables.SharedKeyCredential, url, user string) (access.Token, error) {
	return access.Sign(credential, url, access.Scope{
		Table:  "Claims",
		Range:  access.Partition(user),
		Allow:  access.Read | access.Add,
		Expiry: time.Now().Add(time.Hour),
	})
}

// ownClaims is the table of the client of a user, who has only token.URL(). It works like any other.
func ownClaims(token access.Token, opts *aztables.ClientOptions) (*patterns.Table[Claim], error) {
	client, err := token.Client(opts)
	if err != nil {
		return nil, err
	}
	return patterns.NewTable[Claim](client, nil)
}

// sum adds up the claims of a user.
func sum(ctx context.Context, claims *patterns.Table[Claim], user string) (sum float64, err error) {
	for claim, err := range claims.Query(ctx, query.PartitionKey.Eq(user), nil) {
		if err != nil {
			return 0, err
		}
		sum += claim.Value.Amount
	}
	return sum, nil
}

// refusal returns the status and the code if the service refused what the token does not permit: rows of other users, and
// other operations.
func refusal(err error) (string, error) {
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) {
		return "", fmt.Errorf("not refused: %v", err)
	}
	return fmt.Sprint(refused.StatusCode, " ", refused.ErrorCode), nil
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and the constants of storagetest by the
	// name, key and address of the account; remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	claims, err1 := patterns.NewTable[Claim](acct.TablesWith(&opts).NewClient("Claims"), nil)
	credential, err2 := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	err := claims.Create(ctx)
	for _, user := range []string{"alice", "bob"} {
		if err == nil {
			_, err = claims.Insert(ctx, &Claim{user, "1", 10.5})
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	var own *patterns.Table[Claim] // of the client of alice, which sends its requests to the account in this process
	ownOpts := aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: acct.Transport()}}
	patterns.Accelerate(&ownOpts.ClientOptions)
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"sign a token", func() (any, error) {
			token, err := sign(credential, storagetest.TablesURL, "alice")
			if err != nil {
				return nil, err
			}
			own, err = ownClaims(token, &ownOpts)
			return token, err // printing it omits the signature
		}},
		{"alice adds a claim", func() (any, error) {
			_, err := own.Insert(ctx, &Claim{"alice", "2", 21})
			return nil, err
		}},
		{"alice reads her claims", func() (any, error) {
			total, err := sum(ctx, own, "alice")
			return fmt.Sprint("sum ", total), err
		}},
		{"alice reads a claim of bob", func() (any, error) {
			_, err := own.Get(ctx, keys.Key{Partition: "bob", Row: "1"})
			return refusal(err)
		}},
		{"alice deletes a claim", func() (any, error) {
			return refusal(own.Delete(ctx, keys.Key{Partition: "alice", Row: "1"}, azcore.ETagAny))
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
