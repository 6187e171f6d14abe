package harness

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Transport is a function that sends requests.
type Transport func(*http.Request) (*http.Response, error)

// Do calls f.
func (f Transport) Do(req *http.Request) (*http.Response, error) { return f(req) }

// RunThrough runs body with a plain and with an accelerated client of a new table, which send through the result of
// wrap, whose argument is the transport of a new in-process account.
func RunThrough(t *testing.T, wrap func(inner policy.Transporter) Transport, body func(t *testing.T, client *aztables.Client, account *storagetest.Account)) {
	t.Helper()
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			account, name := NewAccount(t)
			body(t, Open(t, account.ConnectionString(), name, mode == "accelerated", wrap(account.Transport())), account)
		})
	}
}

// Open returns a client of the table that sends through transport and retries without delay.
func Open(t testing.TB, connection, table string, accelerated bool, transport policy.Transporter) *aztables.Client {
	t.Helper()
	opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: transport,
		Retry:     policy.RetryOptions{RetryDelay: time.Microsecond, MaxRetryDelay: time.Microsecond},
	}}
	if accelerated {
		wire.Accelerate(&opts.ClientOptions)
	}
	return assert.Must(aztables.NewServiceClientFromConnectionString(connection, opts))(t).NewClient(table)
}

// ReplaceBody changes the body of a response of an in-process account, and the lengths in its headers.
func ReplaceBody(resp *http.Response, change func([]byte) []byte) *http.Response {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err) // impossible in this process
	}
	body = change(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp
}
