package eventual_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/harness"
)

// network is the network between one process and the in-process account.
type network struct {
	b *harness.Backend

	// delay selects attempts that arrive when the test calls arrive. The process receives an
	// error instead, as after a lost request. nil selects none.
	delay func(*http.Request) bool

	// skew is by how much the clock of the account is ahead of that of the process.
	skew time.Duration

	late []*http.Request
}

func (n *network) Do(req *http.Request) (*http.Response, error) {
	if n.delay != nil && n.delay(req) {
		n.late = append(n.late, copyOf(req))
		return nil, syscall.ECONNRESET
	}
	res, err := n.b.Account.Transport().Do(req)
	if err != nil || n.skew == 0 {
		return res, err
	}
	return n.shift(res)
}

// copyOf returns a copy of a request that is not cancelled with it.
func copyOf(req *http.Request) *http.Request {
	c := req.Clone(context.WithoutCancel(req.Context()))
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body) // of a buffer
		c.Body = io.NopCloser(bytes.NewReader(body))
	}
	return c
}

// delayFirst delays the first n attempts with that method whose path ends in suffix; in a
// suffix "*" matches a segment.
func (n *network) delayFirst(attempts int, method, suffix string) {
	n.delay = func(req *http.Request) bool {
		p := req.URL.Path
		if strings.HasSuffix(suffix, "/*") {
			p = path.Dir(p) + "/*"
		}
		if attempts == 0 || req.Method != method || !strings.HasSuffix(p, suffix) {
			return false
		}
		attempts--
		return true
	}
}

// arrive carries out the delayed attempts, and returns the status of each.
func (n *network) arrive(t testing.TB) (status []int) {
	t.Helper()
	n.delay = nil
	for _, req := range n.late {
		res, err := n.b.Account.Transport().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		status = append(status, res.StatusCode)
	}
	if len(status) == 0 {
		t.Error("no request was delayed")
	}
	n.late = nil
	return status
}

func (n *network) options() azcore.ClientOptions {
	return azcore.ClientOptions{Transport: n, Retry: policy.RetryOptions{RetryDelay: time.Millisecond, MaxRetryDelay: 2 * time.Millisecond}}
}

// queue, container and table return clients of the process for existing resources.
func (n *network) queue(t testing.TB, c *azqueue.QueueClient) *azqueue.QueueClient {
	t.Helper()
	client, err := azqueue.NewQueueClientFromConnectionString(n.b.Account.ConnectionString(), path.Base(c.URL()),
		&azqueue.ClientOptions{ClientOptions: n.options()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (n *network) container(t testing.TB, c *container.Client) *container.Client {
	t.Helper()
	client, err := container.NewClientFromConnectionString(n.b.Account.ConnectionString(), path.Base(c.URL()),
		&container.ClientOptions{ClientOptions: n.options()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (n *network) table(t testing.TB, name string) *aztables.Client {
	t.Helper()
	return harness.Open(t, n.b.Account.ConnectionString(), name, n.b.Accelerated, n)
}

// times matches the times in the replies of all three services.
var times = regexp.MustCompile(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT`)

// shift adds the skew to all times in a reply.
func (n *network) shift(res *http.Response) (*http.Response, error) {
	later := func(s string) string {
		at, err := http.ParseTime(s)
		if err != nil || at.Year() == 9999 { // the message never expires
			return s
		}
		return at.Add(n.skew).Format(http.TimeFormat)
	}
	for _, values := range res.Header {
		for i := range values {
			values[i] = times.ReplaceAllStringFunc(values[i], later)
		}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if err := res.Body.Close(); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(times.ReplaceAllFunc(body, func(s []byte) []byte { return []byte(later(string(s))) })))
	return res, nil
}
