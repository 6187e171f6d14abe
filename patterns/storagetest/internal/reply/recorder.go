package reply

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// Recorder is a ResponseWriter that keeps the reply in memory. The zero value is
// ready to use.
type Recorder struct {
	header http.Header
	status int
	body   []byte
}

// Header returns the headers of the reply.
func (w *Recorder) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header, 14) // fills a map of 16 slots
	}
	return w.header
}

// WriteHeader sets the status. Only the first call counts.
func (w *Recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
}

// Write keeps a copy of p.
func (w *Recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

// keep writes bytes without copying them. The caller must not change them.
func (w *Recorder) keep(p []byte) {
	w.WriteHeader(http.StatusOK)
	if w.body == nil {
		w.body = p[:len(p):len(p)]
		return
	}
	w.body = append(w.body, p...)
}

// Result returns the reply to req.
func (w *Recorder) Result(req *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	if req.Method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		w.body = nil
	}
	res := &http.Response{
		Status:     strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.Header(),
		Body:          http.NoBody,
		ContentLength: int64(len(w.body)),
		Request:       req,
	}
	if len(w.body) > 0 {
		res.Body = io.NopCloser(bytes.NewReader(w.body))
	}
	if req.Method == http.MethodHead {
		if n, err := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64); err == nil {
			res.ContentLength = n
		}
	}
	return res
}

// Write sends part of a body, which must not be changed afterwards, and reports whether the
// client is still connected. A Recorder does not copy the part.
func Write(w http.ResponseWriter, p []byte) bool {
	if r, ok := w.(*Recorder); ok {
		r.keep(p)
		return true
	}
	_, err := w.Write(p)
	return err == nil
}
