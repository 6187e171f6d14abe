package testbed

import (
	"net/http"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/wire"
)

// Direct is a client of the table that meets no fault and is not logged: a competitor, or one who looks what is really
// there.
func (b *Backend) Direct(t testing.TB, name string) *aztables.Client {
	t.Helper()
	return b.tables(t, b.direct).NewClient(name)
}

// Between is a client of the table that calls after each try of a request, before the SDK decides about the next one.
// Calls do not overlap. Tries are counted from 1 for each client.
func (b *Backend) Between(t testing.TB, name string, after func(try int)) *aztables.Client {
	t.Helper()
	opts := &aztables.ClientOptions{ClientOptions: options(b.script)}
	opts.PerRetryPolicies = []policy.Policy{&between{after: after}}
	if b.Accelerated {
		opts = wire.Accelerate(opts)
	}
	client, err := aztables.NewServiceClientFromConnectionString(b.connection, opts)
	if err != nil {
		t.Fatalf("a table service client: %v", err)
	}
	return client.NewClient(name)
}

type between struct {
	mu    sync.Mutex
	after func(try int)
	try   int
}

func (b *between) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.try++
	b.after(b.try)
	return resp, err
}
