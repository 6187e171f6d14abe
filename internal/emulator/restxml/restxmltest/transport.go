// Package restxmltest lets the Go SDK clients talk to a handler in tests: no
// socket, no goroutine, so that it works inside testing/synctest.
package restxmltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// A Transport runs each request against Handler in the caller's goroutine, as
// net/http's server would deliver it: canonical header names but for metadata,
// a known length or -1.
type Transport struct {
	Handler http.Handler
	// Account is cut from the front of each path, as a mount does; "" cuts
	// nothing.
	Account string

	mu   sync.Mutex
	seen int
}

// Requests is the number of requests so far.
func (t *Transport) Requests() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

// Do implements policy.Transporter.
func (t *Transport) Do(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	t.seen++
	t.mu.Unlock()
	in := req.Clone(req.Context())
	in.Header = http.Header{}
	for k, v := range req.Header {
		if !strings.HasPrefix(k, "x-ms-meta-") {
			k = http.CanonicalHeaderKey(k)
		}
		in.Header[k] = v
	}
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	if t.Account != "" {
		in.URL.Path = "/" + strings.TrimPrefix(strings.TrimPrefix(in.URL.Path, "/"+t.Account), "/")
	}
	switch {
	case in.Body == nil:
		in.Body = http.NoBody
	case in.ContentLength == 0 && in.Body != http.NoBody:
		in.ContentLength = -1
	}
	rec := httptest.NewRecorder()
	t.Handler.ServeHTTP(rec, in)
	if req.Body != nil {
		_ = req.Body.Close() // reading is over; nothing depends on it
	}
	res := rec.Result()
	if req.Method == http.MethodHead {
		res.Body = http.NoBody
	} else {
		res.Body = io.NopCloser(bytes.NewReader(rec.Body.Bytes()))
	}
	res.Request = req
	return res, nil
}
