package bench

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Clients makes the clients of one way of a [Row]. They sign with a shared key.
type Clients struct {
	account     *storagetest.Account
	tape        *tape // nil: requests go to the account
	accelerated bool
}

// newClients returns the clients for one way of a row, after its Setup, on an account in
// which the table exists.
func newClients(ctx context.Context, row Row, accelerated bool) (*Clients, error) {
	account := storagetest.Start(&storagetest.Options{LogLimit: 1 << 10})
	c := &Clients{account: account, accelerated: accelerated, tape: &tape{account: account.Transport()}}
	if _, err := c.direct().Table().CreateTable(ctx, nil); err != nil {
		return nil, err
	}
	if row.Setup != nil {
		if err := row.Setup(ctx, c.direct()); err != nil {
			return nil, err
		}
	}
	account.ResetLog()
	return c, nil
}

// direct returns accelerated clients whose requests are not recorded.
func (c *Clients) direct() *Clients { return &Clients{account: c.account, accelerated: true} }

// delayed makes the account delay all further requests.
func (c *Clients) delayed(d time.Duration) { c.account.Fault(storagetest.On("*").Delay(d)) }

func (c *Clients) options() azcore.ClientOptions {
	transport := policy.Transporter(c.tape)
	if c.tape == nil {
		transport = c.account.Transport()
	}
	return azcore.ClientOptions{Transport: transport}
}

// accelerated returns the options of an accelerated client.
func accelerated() *aztables.ClientOptions {
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	return &opts
}

// Table returns the client of the table that exists.
func (c *Clients) Table() *aztables.Client { return c.TableNamed(tableName) }

// TableNamed returns the client of another table.
func (c *Clients) TableNamed(name string) *aztables.Client {
	opts := &aztables.ClientOptions{ClientOptions: c.options()}
	if c.accelerated {
		patterns.Accelerate(&opts.ClientOptions)
	}
	cred := must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))
	return must(aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, opts)).NewClient(name)
}

// Queue returns the client of a queue.
func (c *Clients) Queue(name string) *azqueue.QueueClient {
	opts := &azqueue.ClientOptions{ClientOptions: c.options()}
	if c.accelerated {
		patterns.LimitReplies(&opts.ClientOptions)
	}
	cred := must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))
	return must(azqueue.NewQueueClientWithSharedKeyCredential(storagetest.QueuesURL+"/"+name, cred, opts))
}

// Container returns the client of a container.
func (c *Clients) Container(name string) *container.Client {
	opts := &container.ClientOptions{ClientOptions: c.options()}
	cred := must(container.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))
	return must(container.NewClientWithSharedKeyCredential(storagetest.BlobsURL+"/"+name, cred, opts))
}

// must returns v. The constructors of the SDK fail only for malformed keys and addresses,
// which are constants here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
