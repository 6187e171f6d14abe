package canary_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// quotingError is an error of a transport that quotes the request.
type quotingError struct{ text string }

func (q *quotingError) Error() string { return q.text }

// way is what the network does to the requests of a call.
type way struct {
	name  string
	alter func(req *http.Request, resp *http.Response) (*http.Response, error)
}

// replied returns a way that replaces every reply.
func replied(status int, code, contentType, body string) way {
	name := fmt.Sprintf("%d %s %s", status, code, contentType)
	return way{name, func(req *http.Request, _ *http.Response) (*http.Response, error) {
		h := http.Header{"Content-Type": {contentType}, "Etag": {`W/"` + bird + `"`}}
		if code != "" {
			h.Set("x-ms-error-code", code)
		}
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", Header: h, Request: req,
			Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body))}, nil
	}}
}

func refusal(code string) string {
	return `{"odata.error":{"code":"` + code + `","message":{"lang":"en-US","value":"The row ` + bird + ` of ` + digits + ` is refused."}}}`
}

// body returns a way that changes the bodies of replies.
func body(name string, change func([]byte) []byte) way {
	return way{name, func(req *http.Request, resp *http.Response) (*http.Response, error) {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		b = change(b)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		resp.Header.Set("Content-Length", fmt.Sprint(len(b)))
		return resp, nil
	}}
}

const hostileRow = `"odata.etag":"W/\"` + bird + `\"","PartitionKey":"` + bird + `","RowKey":"` + bird + `","Name":{"x":"` + bird + `"},"At":"` + bird + `"`

var ways = []way{
	{"healthy", func(_ *http.Request, resp *http.Response) (*http.Response, error) { return resp, nil }},
	{"the reply is lost", func(req *http.Request, resp *http.Response) (*http.Response, error) {
		return nil, &quotingError{"lost: " + bird + " " + req.URL.String()}
	}},
	replied(400, "InvalidInput", "application/json", refusal("InvalidInput")),
	replied(403, "AuthorizationFailure", "application/json", refusal("AuthorizationFailure")),
	replied(404, "ResourceNotFound", "application/json", refusal("ResourceNotFound")),
	replied(404, "", "text/html", "<html>"+bird+"</html>"),
	replied(409, "EntityAlreadyExists", "application/json", refusal("EntityAlreadyExists")),
	replied(412, "UpdateConditionNotSatisfied", "application/json", refusal("UpdateConditionNotSatisfied")),
	replied(500, "InternalError", "application/json", refusal("InternalError")),
	replied(503, "ServerBusy", "application/xml", `<?xml version="1.0"?><Error><Code>ServerBusy</Code><Message>`+bird+`</Message></Error>`),
	replied(200, "", "application/json", `{"odata.metadata":"x",`+hostileRow+`}`),
	replied(200, "", "application/json", `{"odata.metadata":"x","value":[{`+hostileRow+`}]}`),
	replied(200, "", "text/html", "<html>"+bird+"</html>"),
	replied(202, "", "multipart/mixed; boundary="+bird, "--"+bird+"\r\nContent-Type: "+bird+"\r\n\r\n"+bird),
	body("the body is cut short", func(b []byte) []byte { return b[:len(b)/2] }),
	body("the body begins with the canary", func(b []byte) []byte { return append([]byte(bird), b...) }),
	body("values have another type", func(b []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte(`"Name":"`), []byte(`"Name":`+digits+`,"x":"`)), []byte(`"N":`), []byte(`"N":"`+bird+`","x":`))
	}),
}

// world is a transport that the test can turn hostile.
type world struct {
	inner policy.Transporter
	way   atomic.Pointer[way] // nil means healthy
}

func (w *world) Do(req *http.Request) (*http.Response, error) {
	resp, err := w.inner.Do(req)
	if way := w.way.Load(); err == nil && way != nil {
		return way.alter(req, resp)
	}
	return resp, err
}

// env is an account with the rows that the calls of one package expect.
type env struct {
	t       *testing.T
	world   *world
	service *aztables.ServiceClient
	queue   func(name string) *azqueue.QueueClient
	blobs   func(name string) *container.Client
	ownFeed *journal.Feed
	clients
}

func newEnv(t *testing.T, accelerated bool) *env {
	t.Helper()
	account := storagetest.New(t)
	w := &world{inner: account.Transport()}
	base := azcore.ClientOptions{Transport: w, Retry: policy.RetryOptions{MaxRetries: -1}}
	opts := &aztables.ClientOptions{ClientOptions: base}
	if accelerated {
		patterns.Accelerate(&opts.ClientOptions)
	}
	service := assert.Must(aztables.NewServiceClientFromConnectionString(account.ConnectionString(), opts))(t)
	return &env{t: t, world: w, service: service,
		queue: func(name string) *azqueue.QueueClient {
			q := assert.Must(azqueue.NewQueueClientFromConnectionString(account.ConnectionString(), name, &azqueue.ClientOptions{ClientOptions: base}))(t)
			_, _ = q.Create(t.Context(), nil)
			return q
		},
		blobs: func(name string) *container.Client {
			c := assert.Must(container.NewClientFromConnectionString(account.ConnectionString(), name, &container.ClientOptions{ClientOptions: base}))(t)
			_, _ = c.Create(t.Context(), nil)
			return c
		}}
}

// table returns a client of a new table.
func (e *env) table(name string) *aztables.Client {
	assert.NoError(e.t, assert.ErrorOf(e.service.CreateTable(e.t.Context(), name, nil)))
	return e.service.NewClient(name)
}
