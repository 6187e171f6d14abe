package patterns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// middle is a transport between a client and an account that replaces replies while it is
// hostile.
type middle struct {
	inner    policy.Transporter
	replace  func(n int64, req *http.Request, real *http.Response) *http.Response // nil: not hostile
	requests atomic.Int64
}

func (m *middle) Do(req *http.Request) (*http.Response, error) {
	resp, err := m.inner.Do(req)
	if err != nil || m.replace == nil {
		return resp, err
	}
	return m.replace(m.requests.Add(1), req, resp), nil
}

// attack is what a hostile network replies with.
type attack struct {
	name    string
	replace func(n int64, req *http.Request, real *http.Response) *http.Response

	// always means that no call can succeed.
	always bool
}

func reply(status int, contentType, body string) func(int64, *http.Request, *http.Response) *http.Response {
	return func(_ int64, req *http.Request, _ *http.Response) *http.Response {
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), ProtoMajor: 1, ProtoMinor: 1, Request: req,
			Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}
	}
}

// circle replies with pages without rows whose tokens go in a circle of n.
func circle(n int64) attack {
	return attack{name: fmt.Sprint("a circle of ", n), replace: func(i int64, req *http.Request, real *http.Response) *http.Response {
		if req.Method != http.MethodGet {
			return real
		}
		token := fmt.Sprint("1!", i%n)
		list := "<?xml version=\"1.0\"?><EnumerationResults><Blobs></Blobs><NextMarker>" + token + "</NextMarker></EnumerationResults>"
		if req.URL.Query().Get("comp") == "list" {
			return reply(http.StatusOK, "application/xml", list)(i, req, real)
		}
		resp := reply(http.StatusOK, "application/json", `{"value":[]}`)(i, req, real)
		resp.Header["X-Ms-Continuation-Nextpartitionkey"] = []string{token}
		resp.Header["X-Ms-Continuation-Nextrowkey"] = []string{token}
		resp.Header["X-Ms-Continuation-Nexttablename"] = []string{token}
		return resp
	}}
}

func attacks() []attack {
	page := "<html><body>not here</body></html>"
	list := []attack{circle(1), circle(2), circle(3), {name: "malformed ETags", replace: func(_ int64, req *http.Request, real *http.Response) *http.Response {
		if real.Header.Get("Etag") != "" {
			real.Header.Set("Etag", "0x1")
		}
		return harness.ReplaceBody(real, func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"odata.etag":"`), []byte(`"odata.etag":" `))
		})
	}}, {name: "truncated bodies", replace: func(_ int64, req *http.Request, real *http.Response) *http.Response {
		return harness.ReplaceBody(real, func(b []byte) []byte { return b[:len(b)/2] })
	}}}
	for _, status := range []int{302, 400, 401, 404, 405, 409, 412, 500} {
		list = append(list, attack{fmt.Sprint("status ", status, " without a code"), reply(status, "text/html", page), true})
	}
	list = append(list, attack{"404 without a body", reply(404, "", ""), true})
	for _, body := range []string{page, "null", `{"value":[null]}`, `{"value":[1,"x",{}]}`, `{"value":{}}`, `[[[[`,
		"<EnumerationResults><Blobs><Blob></Blob><Blob><Name/></Blob></Blobs></EnumerationResults>", "<EnumerationResults/>",
		"<QueueMessagesList><QueueMessage></QueueMessage></QueueMessagesList>"} {
		list = append(list, attack{"200 " + body, reply(http.StatusOK, "application/json", body), false})
	}
	huge := reply(http.StatusNotFound, "text/html", page)
	return append(list, attack{"huge headers", func(n int64, req *http.Request, real *http.Response) *http.Response {
		resp := huge(n, req, real)
		resp.Header["X-Huge"] = []string{strings.Repeat("x", 1<<20)}
		return resp
	}, true})
}

// refusedWithCode reports whether the account itself refused the request.
func refusedWithCode(err error) bool {
	var e *patterns.Error
	return errors.As(err, &e) && e.Code != "" || errors.Is(err, patterns.ErrNotFound)
}

// certain are the sentinels that state what became of a row, a table or a blob.
var certain = []error{patterns.ErrNotFound, patterns.ErrExists, patterns.ErrConflict, patterns.ErrTableNotFound, largeentity.ErrBlobNotFound}

func TestHostileRepliesAreTypedErrors(t *testing.T) {
	for _, mode := range []string{"plain", "accelerated"} {
		for _, a := range attacks() {
			t.Run(mode+"/"+a.name, func(t *testing.T) {
				acct := storagetest.New(t)
				m := &middle{inner: acct.Transport()}
				assert.NoError(t, assert.ErrorOf(acct.Tables().CreateTable(t.Context(), "people", nil)))
				for _, e := range exposedCalls(t, m, acct.ConnectionString(), "people", mode == "accelerated") {
					m.replace = a.replace
					m.requests.Store(0)
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					err := e.call(ctx)
					cancel()
					m.replace = nil
					if n := m.requests.Load(); n > 100 {
						t.Errorf("%s: %d requests", e.name, n)
					}
					if err == nil {
						if a.always {
							t.Errorf("%s succeeds", e.name)
						}
						continue
					}
					var property *patterns.PropertyError
					bad, unknown := errors.Is(err, patterns.ErrBadReply), errors.Is(err, patterns.ErrOutcomeUnknown)
					if a.always && e.write && !unknown && e.name != "eventual.Move" || !bad && !unknown && !errors.As(err, &property) && !errors.Is(err, largeentity.ErrCorrupt) &&
						(a.always || !refusedWithCode(err)) {
						t.Errorf("%s: %v", e.name, err)
					}
					for _, c := range certain {
						if a.always && errors.Is(err, c) {
							t.Errorf("%s: %v is certain: %v", e.name, c, err)
						}
					}
				}
			})
		}
	}
}
