package storagetest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// refuse returns the error reply that a rule requires, in the format of the service.
func (a *attempt) refuse(req *http.Request) *http.Response {
	e, h := reply.New(a.effect.status, a.effect.code, "The request was refused by a scripted fault."), http.Header{}
	now := a.r.LocalTime().Add(a.t.opts.clockSkew)
	id := reply.Head(h, a.r.Header, "fault", now)
	body := e.Refuse(h, a.r.Service == op.Table, false, id, now)
	if req.Method == http.MethodHead {
		body = nil
	}
	closeBody(req)
	res := newReply(req, e.Status, h, body)
	a.t.note(func() { a.q.Status, a.q.Code, a.q.ReplyBytes = e.Status, e.Code, res.ContentLength })
	return res
}

// newReply returns a response to req with a body.
func newReply(req *http.Request, status int, h http.Header, body []byte) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		Request: req,
	}
}

// drop reads a reply to its end, which frees the connection.
func drop(res *http.Response) {
	if res != nil && res.Body != nil {
		_, _ = io.Copy(io.Discard, res.Body) // the reply is not delivered
		_ = res.Body.Close()
	}
}

// closeBody closes the body of a request that is not sent, as a transport must do.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // the error has no effect
	}
}

// rewindable reads the body of req, and returns a second request with the same body, for
// which req is not needed.
func rewindable(req *http.Request) (*http.Request, error) {
	again := new(http.Request)
	*again = *req
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

// cutBody is a body that ends with io.ErrUnexpectedEOF after some bytes.
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

// countedBody counts the bytes of a reply whose length was not declared.
type countedBody struct {
	io.ReadCloser
	attempt *attempt
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.attempt.t.note(func() { c.attempt.q.ReplyBytes += int64(n) })
	return n, err
}
