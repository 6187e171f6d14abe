package fault

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// refuse makes the answer that the service gives to a request that it refuses.
func (t *Transport) refuse(req *http.Request, q *Request, e effect) *http.Response {
	const message = "The request was refused by a scripted fault."
	h := http.Header{}
	id := rest.Head(h, req, "fault")
	if v := spelled(req.Header, "X-Ms-Version"); v != "" {
		h.Set("X-Ms-Version", v)
	}
	now := time.Now()
	var body []byte
	if q.Service == Table {
		body = rest.ODataError(e.code, message, id, now)
		h["Content-Type"] = []string{"application/json;odata=minimalmetadata;streaming=true;charset=utf-8"}
	} else {
		body = rest.StorageXMLError(e.code, message, id, now)
		h["Content-Type"] = []string{"application/xml"}
		h["X-Ms-Error-Code"] = []string{e.code}
	}
	if req.Method == http.MethodHead {
		body = nil
	}
	closeBody(req)
	res := answer(req, e.status, h, body)
	t.note(func() { q.Status, q.Code, q.ReplyBytes = e.status, e.code, res.ContentLength })
	return res
}

// spelled returns a header by its canonical name, or by the name in lower case,
// which is how the SDKs put headers into a request.
func spelled(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	if v := h[strings.ToLower(name)]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func answer(req *http.Request, status int, h http.Header, body []byte) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		Request: req,
	}
}

// drop reads an answer to its end, which frees the connection.
func drop(res *http.Response) {
	if res != nil && res.Body != nil {
		_, _ = io.Copy(io.Discard, res.Body) // nobody gets this answer
		_ = res.Body.Close()
	}
}

// closeBody closes the body of a request that is not sent, as a transport must.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // nothing depends on it
	}
}

// rewindable reads the body of req and returns a second request with the same.
func rewindable(req *http.Request) (*http.Request, error) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, nil
	}
	b, err := io.ReadAll(req.Body)
	_ = req.Body.Close() // it was read
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(b))
	again.Body = io.NopCloser(bytes.NewReader(b))
	return again, nil
}

// cutBody breaks off.
type cutBody struct {
	body io.ReadCloser
	left int64
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.body.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (c *cutBody) Close() error { return c.body.Close() }

// countedBody counts the bytes of an answer whose length was not declared.
type countedBody struct {
	io.ReadCloser
	t *Transport
	q *Request
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.t.mu.Lock()
	c.q.ReplyBytes += int64(n)
	c.t.mu.Unlock()
	return n, err
}
