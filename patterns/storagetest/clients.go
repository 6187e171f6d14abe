package storagetest

import (
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/limit"
)

// The addresses of the services. Their domain does not exist: without the transport of the
// account, a client cannot connect.
const (
	TablesURL = "https://" + AccountName + ".table.storagetest.invalid"
	QueuesURL = "https://" + AccountName + ".queue.storagetest.invalid"
	BlobsURL  = "https://" + AccountName + ".blob.storagetest.invalid"
)

// Transport sends requests to an account. It is the transport of clients of the Azure SDK, and of an http.Client.
type Transport interface {
	policy.Transporter
	http.RoundTripper
}

// Transport returns the transport for clients. It carries requests out in the goroutine of
// the sender, without sockets or other goroutines, so that testing/synctest controls the
// time of the SDK and of the account. The rules of the account apply to these requests, and
// its log contains them.
//
// It calls GetConn, GotConn and WroteRequest of an httptrace.ClientTrace once for each
// request, and GotFirstResponseByte for each reply, as net/http does.
func (a *Account) Transport() Transport { return a.script() }

// Tables returns a client with the default options that signs with the shared key.
func (a *Account) Tables() *aztables.ServiceClient { return a.TablesWith(nil) }

// TablesWith returns a client with a copy of opts that signs with the shared key. nil means the
// default options.
//
// Requests are sent through the transport of opts, so that for example an attached heat.Meter
// observes them. The account takes the place of the network connection: of no transport, of an
// *http.Client, and of what patterns.Accelerate, patterns.LimitReplies and the Attach methods
// of this module connect with. Any other transport of the caller is used as it is, and has to
// send through [Account.Transport] itself.
func (a *Account) TablesWith(opts *aztables.ClientOptions) *aztables.ServiceClient {
	var o aztables.ClientOptions
	if opts != nil {
		o = *opts
	}
	o.Transport = limit.InPlace(o.Transport, a.Transport())
	cred := certain(aztables.NewSharedKeyCredential(AccountName, AccountKey))
	return certain(aztables.NewServiceClientWithSharedKey(TablesURL, cred, &o))
}

// Queue returns a client for a queue, with the default options, that signs with the shared
// key. The queue need not exist.
func (a *Account) Queue(name string) *azqueue.QueueClient { return a.QueueWith(name, nil) }

// QueueWith returns a client for a queue with a copy of opts that signs with the shared key. nil
// means the default options. The transport of opts is used as by [Account.TablesWith].
func (a *Account) QueueWith(name string, opts *azqueue.ClientOptions) *azqueue.QueueClient {
	var o azqueue.ClientOptions
	if opts != nil {
		o = *opts
	}
	o.Transport = limit.InPlace(o.Transport, a.Transport())
	cred := certain(azqueue.NewSharedKeyCredential(AccountName, AccountKey))
	return certain(azqueue.NewQueueClientWithSharedKeyCredential(QueuesURL+"/"+url.PathEscape(name), cred, &o))
}

// Container returns a client for a container, with the default options, that signs with the
// shared key. The container need not exist.
func (a *Account) Container(name string) *container.Client { return a.ContainerWith(name, nil) }

// ContainerWith returns a client for a container with a copy of opts that signs with the shared
// key. nil means the default options. The transport of opts is used as by [Account.TablesWith].
func (a *Account) ContainerWith(name string, opts *container.ClientOptions) *container.Client {
	var o container.ClientOptions
	if opts != nil {
		o = *opts
	}
	o.Transport = limit.InPlace(o.Transport, a.Transport())
	cred := certain(azblob.NewSharedKeyCredential(AccountName, AccountKey))
	return certain(container.NewClientWithSharedKeyCredential(BlobsURL+"/"+url.PathEscape(name), cred, &o))
}

// certain returns v. The constructors of the SDK fail only for a malformed key or address,
// which are constants here: no option makes them fail.
func certain[T any](v T, err error) T {
	if err != nil {
		panic("storagetest: " + err.Error())
	}
	return v
}

// ConnectionString returns the connection string of the account, for clients that also use
// its [Account.Transport]. Other processes use [Server.ConnectionString].
func (a *Account) ConnectionString() string {
	return connectionString("https", TablesURL, QueuesURL, BlobsURL)
}

func connectionString(scheme, tables, queues, blobs string) string {
	return "DefaultEndpointsProtocol=" + scheme + ";AccountName=" + AccountName + ";AccountKey=" + AccountKey +
		";BlobEndpoint=" + blobs + ";QueueEndpoint=" + queues + ";TableEndpoint=" + tables + ";"
}
