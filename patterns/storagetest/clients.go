package storagetest

import (
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// The addresses of the services. Their domain exists nowhere: a client that was
// given an address without the account's transport fails and reaches nobody.
const (
	TablesURL = "https://" + AccountName + ".table.storagetest.invalid"
	QueuesURL = "https://" + AccountName + ".queue.storagetest.invalid"
	BlobsURL  = "https://" + AccountName + ".blob.storagetest.invalid"
)

// Transport carries requests out in the sender's goroutine: no socket, no
// goroutine, so that testing/synctest moves the clock for the SDK and for the
// account alike. Faults and the log apply.
//
// It calls GetConn, GotConn and WroteRequest of an httptrace.ClientTrace once for each
// request, and GotFirstResponseByte for each reply, as net/http does.
func (a *Account) Transport() policy.Transporter { return a.faults }

// Tables returns a client with the default options, signing with the shared key.
func (a *Account) Tables() *aztables.ServiceClient { return a.TablesWith(nil) }

// TablesWith returns a client with a copy of opts, in which only the transport
// is the account's: policies, retry and all else stay the caller's. It panics
// on options with which the SDK makes no client.
func (a *Account) TablesWith(opts *aztables.ClientOptions) *aztables.ServiceClient {
	var o aztables.ClientOptions
	if opts != nil {
		o = *opts
	}
	o.Transport = a.Transport()
	cred, err := aztables.NewSharedKeyCredential(AccountName, AccountKey)
	if err == nil {
		var client *aztables.ServiceClient
		if client, err = aztables.NewServiceClientWithSharedKey(TablesURL, cred, &o); err == nil {
			return client
		}
	}
	panic("storagetest: aztables refuses these options: " + err.Error())
}

// Queue returns a client for the queue of this name with the default options,
// signing with the shared key. The queue need not exist.
func (a *Account) Queue(name string) *azqueue.QueueClient { return a.QueueWith(name, nil) }

// QueueWith returns a client for a queue with a copy of opts, in which only the
// transport is the account's. It panics as TablesWith does.
func (a *Account) QueueWith(name string, opts *azqueue.ClientOptions) *azqueue.QueueClient {
	var o azqueue.ClientOptions
	if opts != nil {
		o = *opts
	}
	o.Transport = a.Transport()
	cred, err := azqueue.NewSharedKeyCredential(AccountName, AccountKey)
	if err == nil {
		var client *azqueue.QueueClient
		if client, err = azqueue.NewQueueClientWithSharedKeyCredential(QueuesURL+"/"+url.PathEscape(name), cred, &o); err == nil {
			return client
		}
	}
	panic("storagetest: azqueue refuses these options: " + err.Error())
}

// Container returns a client for the container of this name with the default
// options, signing with the shared key. The container need not exist.
func (a *Account) Container(name string) *container.Client { return a.ContainerWith(name, nil) }

// ContainerWith returns a client for a container with a copy of opts, in which
// only the transport is the account's. It panics as TablesWith does.
func (a *Account) ContainerWith(name string, opts *container.ClientOptions) *container.Client {
	var o container.ClientOptions
	if opts != nil {
		o = *opts
	}
	o.Transport = a.Transport()
	cred, err := azblob.NewSharedKeyCredential(AccountName, AccountKey)
	if err == nil {
		var client *container.Client
		if client, err = container.NewClientWithSharedKeyCredential(BlobsURL+"/"+url.PathEscape(name), cred, &o); err == nil {
			return client
		}
	}
	panic("storagetest: azblob refuses these options: " + err.Error())
}

// ConnectionString names the account for clients that are given its transport
// as well. Other processes use that of [Account.Serve].
func (a *Account) ConnectionString() string {
	return connectionString("https", TablesURL, QueuesURL, BlobsURL)
}

func connectionString(scheme, tables, queues, blobs string) string {
	return "DefaultEndpointsProtocol=" + scheme + ";AccountName=" + AccountName + ";AccountKey=" + AccountKey +
		";BlobEndpoint=" + blobs + ";QueueEndpoint=" + queues + ";TableEndpoint=" + tables + ";"
}
