// Package account opens the storage account that an example uses, and counts the requests.
package account

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/connect"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Connection is the environment variable with the connection string of the account. It is
// used if no flag selects another account.
const Connection = "AZURE_STORAGE_CONNECTION_STRING"

// Flags select the account to open. The zero value selects the account of the environment
// variable [Connection], or, if that is not set, an account in this process.
type Flags struct {
	URL     string
	Azurite bool
}

// Register adds the flags -account and -azurite to the command line.
func (f *Flags) Register() {
	flag.StringVar(&f.URL, "account", "", "use the storage account with this table `URL`, such as https://NAME.table.core.windows.net")
	flag.BoolVar(&f.Azurite, "azurite", false, "start Azurite, the storage emulator, and use it")
}

// Account contains the clients of a storage account.
type Account struct {
	*connect.Account
	Name string // description of the account, for output

	requests requests
	stop     func()
}

// requests is a policy that counts requests, including retries of the SDK.
type requests struct{ n atomic.Int64 }

func (r *requests) Do(req *policy.Request) (*http.Response, error) {
	r.n.Add(1)
	return req.Next()
}

// Requests returns the number of requests so far.
func (a *Account) Requests() int { return int(a.requests.n.Load()) }

// Close stops what Open started.
func (a *Account) Close() { a.stop() }

// Open opens the account that f selects.
func Open(ctx context.Context, f Flags) (*Account, error) {
	connection := os.Getenv(Connection)
	switch {
	case f.URL != "" && f.Azurite:
		return nil, errors.New("-account and -azurite exclude each other")
	case f.URL != "":
		if err := checkAddress(f.URL); err != nil {
			return nil, err
		}
		return open(f.URL, f.URL, nil)
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
		return Connect("from "+Connection, connection)
	}
	return Local(storagetest.Start(nil)), nil
}

// Local returns an account in this process.
func Local(acct *storagetest.Account) *Account {
	a, err := open("in this process (nothing leaves the machine)", acct.ConnectionString(), acct.Transport())
	if err != nil {
		panic(err) // the connection string is valid
	}
	return a
}

// Connect opens the account of a connection string.
func Connect(name, connection string) (*Account, error) { return open(name, connection, nil) }

// open opens an account with a connection string, or with an address and the identity of the user.
func open(name, secret string, transport policy.Transporter) (a *Account, err error) {
	a = &Account{Name: name, stop: func() {}}
	options := azcore.ClientOptions{Transport: transport}
	options.PerRetryPolicies = []policy.Policy{&a.requests}
	a.Account, err = connect.Open(secret, func() (azcore.TokenCredential, error) { return azidentity.NewDefaultAzureCredential(nil) }, options)
	return a, err
}

// checkAddress returns an error if address is not the URL of a table service. The error does
// not contain the address, which could contain a secret.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "":
		return errors.New("-account is not a URL such as https://NAME.table.core.windows.net")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("-account is not only an address: it must not contain a signature, because the identity of the user is used")
	}
	return nil
}
