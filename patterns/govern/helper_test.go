package govern_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/govern"
)

// hasStatus reports whether err is a reply with that status.
func hasStatus(err error, status int) bool {
	var reply *azcore.ResponseError
	return errors.As(err, &reply) && reply.StatusCode == status
}

func isNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// service is a transport that is a function.
type service func(*http.Request) (*http.Response, error)

func (s service) Do(req *http.Request) (*http.Response, error) {
	resp, err := s(req)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

func respond(status int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

const busy = `{"odata.error":{"code":"ServerBusy","message":{"lang":"en-us","value":"The server is currently unable to receive requests."}}}`

// governed returns a governor and a transport that it limits.
func governed(t testing.TB, opts *govern.Options, s service) (*govern.Governor, policy.Transporter) {
	t.Helper()
	g := assert.Must(govern.New(opts))(t)
	o := azcore.ClientOptions{Transport: s}
	g.Attach(&o)
	return g, o.Transport
}

// read returns a point read of a partition.
func read(ctx context.Context, partition string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://account.table.core.windows.net/people(PartitionKey='%s',RowKey='r')", partition), nil)
	if err != nil {
		panic(err)
	}
	return req
}
