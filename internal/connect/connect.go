// Package connect opens a storage account with what an operator has: a connection string, or the address of its table service, with
// a SAS or with an identity. The commands of tablectl and the examples use it.
package connect

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// Account has the clients of a storage account, which limit the size of replies; those of tables are accelerated. No client makes a
// request before it is used. It is safe for concurrent use.
type Account struct {
	Name   string // its address, without a secret
	Tables *aztables.ServiceClient

	secret   string
	identity azcore.TokenCredential // nil if secret is more than an address
	options  azcore.ClientOptions
}

// Open opens the account with this connection string, or with this address of its table service: with a SAS, which follows a question
// mark, or, if there is none, with the credential that identity returns. options are those of every client.
func Open(secret string, identity func() (azcore.TokenCredential, error), options azcore.ClientOptions) (a *Account, err error) {
	options.Transport = limit.Transport(options.Transport)
	a = &Account{secret: secret, options: options}
	var signed bool
	switch a.Name, _, signed = strings.Cut(secret, "?"); {
	case !isAddress(secret):
		a.Name = strings.Join(slices.DeleteFunc(strings.Split(secret, ";"), func(part string) bool {
			return !strings.HasPrefix(part, "AccountName=") && !strings.HasPrefix(part, "TableEndpoint=")
		}), ";")
	case !signed:
		if a.identity, err = identity(); err != nil {
			return nil, err
		}
	}
	accelerated := &aztables.ClientOptions{ClientOptions: options}
	wire.Accelerate(&accelerated.ClientOptions)
	a.Tables, err = client(a, ".table.", accelerated, aztables.NewServiceClientFromConnectionString, aztables.NewServiceClientWithNoCredential, aztables.NewServiceClient)
	return a, err
}

func isAddress(secret string) bool {
	return strings.HasPrefix(secret, "https://") || strings.HasPrefix(secret, "http://")
}

// Queue returns a client of a queue, which need not exist.
func (a *Account) Queue(name string) (*azqueue.QueueClient, error) {
	s, err := client(a, ".queue.", &azqueue.ClientOptions{ClientOptions: a.options},
		azqueue.NewServiceClientFromConnectionString, azqueue.NewServiceClientWithNoCredential, azqueue.NewServiceClient)
	if err != nil {
		return nil, err
	}
	return s.NewQueueClient(name), nil
}

// Container returns a client of a container of blobs, which need not exist.
func (a *Account) Container(name string) (*container.Client, error) {
	s, err := client(a, ".blob.", &service.ClientOptions{ClientOptions: a.options},
		service.NewClientFromConnectionString, service.NewClientWithNoCredential, service.NewClient)
	if err != nil {
		return nil, err
	}
	return s.NewContainerClient(name), nil
}

// client returns a client of a service, made by the function for what the account was opened with. host is the part of the
// address that differs between the services.
func client[C, O any](a *Account, host string, opts *O, byString, bySAS func(string, *O) (C, error), byIdentity func(string, azcore.TokenCredential, *O) (C, error)) (C, error) {
	address, signature, _ := strings.Cut(strings.Replace(a.secret, ".table.", host, 1), "?")
	address = strings.TrimSuffix(address, "/") + "/"
	switch {
	case !isAddress(a.secret):
		return byString(a.secret, opts)
	case a.identity != nil:
		return byIdentity(address, a.identity, opts)
	}
	return bySAS(address+"?"+signature, opts)
}
