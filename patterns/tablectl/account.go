package tablectl

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/connect"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// azuriteConnection is the connection string of an Azurite with the default ports.
const azuriteConnection = "DefaultEndpointsProtocol=http;AccountName=" + storagetest.AccountName + ";AccountKey=" + storagetest.AccountKey +
	";TableEndpoint=http://127.0.0.1:10002/" + storagetest.AccountName + ";QueueEndpoint=http://127.0.0.1:10001/" + storagetest.AccountName +
	";BlobEndpoint=http://127.0.0.1:10000/" + storagetest.AccountName + ";"

// accountFlags select an account.
type accountFlags struct {
	url           string
	env           string
	azurite, demo bool
}

// connectionVariable is the environment variable of the account if no flag selects one.
const connectionVariable = "AZURE_STORAGE_CONNECTION_STRING"

// accountFlags adds the flags that select an account. The names of those of a second one begin with a prefix.
func (c *cli) accountFlags(prefix, what string) {
	f := new(accountFlags)
	c.accounts = append(c.accounts, f)
	c.flags.StringVar(&f.url, prefix+"account", "", what+": the `URL` of its table service, with the identity of the user (azidentity)")
	c.flags.StringVar(&f.env, prefix+"env", "",
		what+": the environment `variable` with a connection string, or the URL of the table service with a SAS (default "+connectionVariable+")")
	c.flags.BoolVar(&f.azurite, prefix+"azurite", false, what+": an Azurite that listens on the default ports")
	c.flags.BoolVar(&f.demo, prefix+"demo", false, what+": an account in this process, with sample tables, a Store and a queue")
}

// Account has the clients of the storage account that the flags of a command select. No client makes a
// request before it is used. It is safe for concurrent use.
type Account struct {
	account    *connect.Account
	credential string // where it comes from
}

// Table returns a client of a table, which need not exist.
func (a *Account) Table(name string) *aztables.Client { return a.account.Tables.NewClient(name) }

// Queue returns a client of a queue, which need not exist.
func (a *Account) Queue(name string) (*azqueue.QueueClient, error) { return a.account.Queue(name) }

// Container returns a client of a container of blobs, which need not exist.
func (a *Account) Container(name string) (*container.Client, error) { return a.account.Container(name) }

// rows returns a table.
func (a *Account) rows(name string) *patterns.Table[stored] { return openTable(a.Table(name)) }

// open makes no request, except that it fills a new account of -demo.
func (c *cli) open(ctx context.Context, f *accountFlags) (*Account, error) {
	variable := cmp.Or(f.env, connectionVariable)
	secret := os.Getenv(variable)
	switch {
	case f.demo && (f.azurite || f.url != ""), f.azurite && f.url != "":
		return nil, usagef("-account, -azurite and -demo exclude each other")
	case f.demo:
		return c.openDemo(ctx)
	case f.azurite:
		return c.connect(azuriteConnection, nil, "")
	case strings.Contains(f.url, "?"):
		return nil, usagef("-account must not contain a signature: put the URL into an environment variable, see -env")
	case f.url == "" && secret == "":
		return nil, usagef("no account: use -account, -azurite or -demo, or set the environment variable %s", variable)
	}
	credential := "the environment variable " + variable
	if f.url != "" {
		credential = "the identity of -account"
	}
	return c.connect(cmp.Or(f.url, secret), nil, credential)
}

// openDemo opens the account in this process.
func (c *cli) openDemo(ctx context.Context) (*Account, error) {
	if c.demo == nil {
		c.demo = storagetest.Start(nil)
		if err := c.fillDemo(ctx); err != nil {
			return nil, err
		}
	}
	return c.connect(c.demo.ConnectionString(), c.demo.Transport(), "")
}

// openAll opens the accounts of a command. The second is the first if no flag selects it.
func (c *cli) openAll(ctx context.Context) (err error) {
	for i, f := range c.accounts {
		if i == 0 {
			c.from, err = c.open(ctx, f)
			c.to = c.from
		} else if *f != (accountFlags{}) && err == nil {
			c.to, err = c.open(ctx, f)
		}
	}
	return err
}

// connect opens the account of a connection string, or of an address with a SAS or with the identity of the user. The transport may
// be nil.
func (c *cli) connect(secret string, t policy.Transporter, credential string) (*Account, error) {
	options := azcore.ClientOptions{Transport: t}
	c.meter.Attach(&options)
	a, err := connect.Open(secret, c.identity, options)
	if err != nil {
		return nil, usagef("the account: %w", err)
	}
	return &Account{a, credential}, nil
}

// defaultIdentity is the identity of the user, of the machine or of the workload.
func defaultIdentity() (azcore.TokenCredential, error) {
	return azidentity.NewDefaultAzureCredential(nil)
}
