package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// UniqueName returns a new name that is legal for a table, a queue or a container.
func UniqueName() string { return "t" + strings.ToLower(rand.Text()) }

// Service returns a client of the account's table service.
func (b *Backend) Service(t testing.TB) *aztables.ServiceClient {
	t.Helper()
	return b.tables(t, b.script.Transport())
}

// Accelerated returns the options of an accelerated client.
func Accelerated() *aztables.ClientOptions {
	var opts aztables.ClientOptions
	wire.Accelerate(&opts.ClientOptions)
	return &opts
}

// Table returns a client of a new, empty table.
func (b *Backend) Table(t testing.TB) *aztables.Client {
	t.Helper()
	return b.NamedTable(t, UniqueName())
}

// NamedTable creates the table and returns a client of it.
func (b *Backend) NamedTable(t testing.TB, name string) *aztables.Client {
	t.Helper()
	direct := b.Direct(t, name)
	assert.NoError(t, assert.ErrorOf(direct.CreateTable(t.Context(), nil)), "create a table")
	b.remove(t, func(ctx context.Context) error { return assert.ErrorOf(direct.Delete(ctx, nil)) })
	return b.Service(t).NewClient(name)
}

// Queue returns a client of a new, empty queue.
func (b *Backend) Queue(t testing.TB) *azqueue.QueueClient {
	t.Helper()
	name := UniqueName()
	open := func(transport policy.Transporter) *azqueue.QueueClient {
		opts := &azqueue.ClientOptions{ClientOptions: b.options(transport)}
		if b.live != nil {
			return assert.Must(azqueue.NewQueueClient(b.live.Queues+"/"+name, b.live.Credential, opts))(t)
		}
		return assert.Must(azqueue.NewQueueClientFromConnectionString(b.connection, name, opts))(t)
	}
	direct := open(b.direct)
	assert.NoError(t, assert.ErrorOf(direct.Create(t.Context(), nil)), "create a queue")
	b.remove(t, func(ctx context.Context) error { return assert.ErrorOf(direct.Delete(ctx, nil)) })
	return open(b.script.Transport())
}

// Container returns a client of a new, empty container.
func (b *Backend) Container(t testing.TB) *container.Client {
	t.Helper()
	name := UniqueName()
	open := func(transport policy.Transporter) *container.Client {
		opts := &container.ClientOptions{ClientOptions: b.options(transport)}
		if b.live != nil {
			return assert.Must(container.NewClient(b.live.Blobs+"/"+name, b.live.Credential, opts))(t)
		}
		return assert.Must(container.NewClientFromConnectionString(b.connection, name, opts))(t)
	}
	direct := open(b.direct)
	assert.NoError(t, assert.ErrorOf(direct.Create(t.Context(), nil)), "create a container")
	b.remove(t, func(ctx context.Context) error { return assert.ErrorOf(direct.Delete(ctx, nil)) })
	return open(b.script.Transport())
}

// tables returns a client that sends each try of a request through the policies.
func (b *Backend) tables(t testing.TB, transport policy.Transporter, eachTry ...policy.Policy) *aztables.ServiceClient {
	t.Helper()
	opts := &aztables.ClientOptions{ClientOptions: b.options(transport)}
	opts.PerRetryPolicies = append(opts.PerRetryPolicies, eachTry...)
	if b.Accelerated {
		wire.Accelerate(&opts.ClientOptions)
	}
	if b.live != nil {
		return assert.Must(aztables.NewServiceClient(b.live.Tables, b.live.Credential, opts))(t)
	}
	return assert.Must(aztables.NewServiceClientFromConnectionString(b.connection, opts))(t)
}

// remove calls remove at the end of the test, to free memory of Azurite. On the in-process account it does nothing. A test
// may have removed the resource itself.
func (b *Backend) remove(t testing.TB, remove func(context.Context) error) {
	if b.InProcess() {
		return
	}
	t.Cleanup(func() {
		var refused *azcore.ResponseError
		if err := remove(context.Background()); err != nil && !(errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound) {
			t.Errorf("remove what the test used: %v", err)
		}
	})
}
