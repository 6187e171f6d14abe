package rest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Carry lets h serve req in the caller's goroutine, as a server would receive it: no
// socket, no goroutine, nothing that testing/synctest could not see through.
func Carry(h http.Handler, req *http.Request) *http.Response {
	w := &recorder{header: make(http.Header, 8)}
	h.ServeHTTP(w, received(req))
	if req.Body != nil {
		_ = req.Body.Close() // it was read, or nobody wants it
	}
	return w.result(req)
}

// received is req as a server sees it: canonical header names, a host, a body.
// The names of metadata keep their spelling, as they do in the service.
func received(req *http.Request) *http.Request {
	in := new(http.Request)
	*in = *req
	in.Header = canonicalHeader(req.Header)
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if strings.Contains(in.URL.RawQuery, ";") { // $format=application/json;odata=…, which net/url takes for an error
		u := *in.URL
		u.RawQuery = strings.ReplaceAll(u.RawQuery, ";", "%3B")
		in.URL = &u
	}
	in.RequestURI = in.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	switch {
	case in.Body == nil:
		in.Body = http.NoBody
	case in.ContentLength == 0 && in.Body != http.NoBody:
		in.ContentLength = -1
	}
	if n := in.ContentLength; n > 0 && in.Header["Content-Length"] == nil {
		in.Header["Content-Length"] = []string{strconv.FormatInt(n, 10)}
	}
	return in
}

// canonicalHeader returns a copy of h, whose values must not be changed.
func canonicalHeader(h http.Header) http.Header {
	out := make(http.Header, len(h)+1)
	for name, values := range h {
		if len(name) < 10 || !strings.EqualFold(name[:10], "x-ms-meta-") {
			name = http.CanonicalHeaderKey(name)
		}
		out[name] = append(out[name], values...)
	}
	return out
}

// recorder is the answer in the making.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
}

// Write keeps a copy of p.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

// Keep is Write for bytes that the caller will not change: they are not copied.
func (w *recorder) Keep(p []byte) {
	w.WriteHeader(http.StatusOK)
	if w.body == nil {
		w.body = p[:len(p):len(p)]
		return
	}
	w.body = append(w.body, p...)
}

func (w *recorder) result(req *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	if req.Method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		w.body = nil
	}
	res := &http.Response{
		Status:     strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.header,
		Body:          http.NoBody,
		ContentLength: int64(len(w.body)),
		Request:       req,
	}
	if len(w.body) > 0 {
		res.Body = io.NopCloser(bytes.NewReader(w.body))
	}
	if req.Method == http.MethodHead {
		if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil {
			res.ContentLength = n
		}
	}
	return res
}
