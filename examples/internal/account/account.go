// Package account opens the storage account that an example runs on, and counts the
// requests that go there.
package account

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Connection is the environment variable that names the account when no flag does.
const Connection = "AZURE_STORAGE_CONNECTION_STRING"

// Flags say which account to open. The zero value is the account of the environment,
// or else one in this process.
type Flags struct {
	URL     string
	Azurite bool
}

// Register adds the flags -account and -azurite to the command line.
func (f *Flags) Register() {
	flag.StringVar(&f.URL, "account", "", "table `URL` of a storage account, such as https://NAME.table.core.windows.net")
	flag.BoolVar(&f.Azurite, "azurite", false, "start Azurite and use it")
}

// Account is where tables and queues are.
type Account struct {
	Name   string // for people
	Tables *aztables.ServiceClient

	queues   func(name string) (*azqueue.QueueClient, error)
	requests requests
	stop     func()
}

// requests is a policy that counts requests, the SDK's retries included.
type requests struct{ n atomic.Int64 }

func (r *requests) Do(req *policy.Request) (*http.Response, error) {
	r.n.Add(1)
	return req.Next()
}

// Requests is how many requests were sent so far.
func (a *Account) Requests() int { return int(a.requests.n.Load()) }

// Queue is a client for the queue of this name, which need not exist.
func (a *Account) Queue(name string) (*azqueue.QueueClient, error) { return a.queues(name) }

// Close stops what Open started.
func (a *Account) Close() { a.stop() }

// Open chooses the account: by -account, -azurite, the connection string of the
// environment, or else the one in the process.
func Open(ctx context.Context, f Flags) (*Account, error) {
	connection := os.Getenv(Connection)
	switch {
	case f.URL != "" && f.Azurite:
		return nil, errors.New("-account and -azurite exclude each other")
	case f.URL != "":
		return signedIn(f.URL)
	case f.Azurite:
		server, err := azurite.Start(ctx, nil)
		if err != nil {
			return nil, err
		}
		a, err := Connect("Azurite at "+server.TableURL(), server.ConnectionString())
		if err != nil {
			return nil, errors.Join(err, server.Close())
		}
		a.stop = func() { server.Close() }
		return a, nil
	case connection != "":
		return Connect("that of "+Connection, connection)
	}
	return Local(storagetest.Start(nil)), nil
}

// Local is an account in this process.
func Local(acct *storagetest.Account) *Account {
	a := &Account{Name: "in this process (nothing leaves the machine)", stop: func() {}}
	a.Tables = acct.TablesWith(a.tableOptions())
	a.queues = func(name string) (*azqueue.QueueClient, error) { return acct.QueueWith(name, a.queueOptions()), nil }
	return a
}

// Connect opens the account that a connection string names.
func Connect(name, connection string) (*Account, error) {
	a := &Account{Name: name, stop: func() {}}
	a.queues = func(name string) (*azqueue.QueueClient, error) {
		return azqueue.NewQueueClientFromConnectionString(connection, name, a.queueOptions())
	}
	var err error
	a.Tables, err = aztables.NewServiceClientFromConnectionString(connection, a.tableOptions())
	return a, err
}

// signedIn opens an account of Azure by who is signed in.
func signedIn(address string) (*Account, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	a := &Account{Name: address, stop: func() {}}
	a.queues = func(name string) (*azqueue.QueueClient, error) {
		queues := strings.TrimSuffix(strings.Replace(address, ".table.", ".queue.", 1), "/")
		return azqueue.NewQueueClient(queues+"/"+name, cred, a.queueOptions())
	}
	a.Tables, err = aztables.NewServiceClient(address, cred, a.tableOptions())
	return a, err
}

// checkAddress refuses what cannot be the address of a table service. It does not print
// the address, which may hold what should not be there.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "":
		return errors.New("-account is not a URL such as https://NAME.table.core.windows.net")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("-account holds more than an address: it takes no signature, but who is signed in")
	}
	return nil
}

func (a *Account) tableOptions() *aztables.ClientOptions {
	// The one line that a service adds to use the library at full speed.
	opts := patterns.Accelerate(nil)
	opts.PerRetryPolicies = append(opts.PerRetryPolicies, &a.requests)
	return opts
}

func (a *Account) queueOptions() *azqueue.ClientOptions {
	return &azqueue.ClientOptions{ClientOptions: azcore.ClientOptions{PerRetryPolicies: []policy.Policy{&a.requests}}}
}
