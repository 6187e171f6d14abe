package harness

import (
	"net/http"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Direct returns a client of the table that no fault rule affects and no log records, for a competing writer or to
// inspect what is stored.
func (b *Backend) Direct(t testing.TB, name string) *aztables.Client {
	t.Helper()
	return b.tables(t, b.direct).NewClient(name)
}

// AfterEachTry returns a client of the table that calls after when a try of a request has ended, before the SDK decides
// whether to retry. Calls do not overlap. Tries are counted from 1 for each client.
func (b *Backend) AfterEachTry(t testing.TB, name string, after func(try int)) *aztables.Client {
	t.Helper()
	return b.tables(t, b.script.Transport(), &afterEachTry{after: after}).NewClient(name)
}

type afterEachTry struct {
	mu    sync.Mutex
	after func(try int)
	try   int
}

func (p *afterEachTry) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.try++
	p.after(p.try)
	return resp, err
}
