package request

import (
	"errors"
	"io"
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// firstRead is the largest number of bytes that is allocated before any of the body has
// arrived.
const firstRead = 1 << 20

// bodyOf returns the body of req and its length, -1 if that is not declared.
func bodyOf(req *http.Request) (io.Reader, int64) {
	if req.Body == nil {
		return http.NoBody, req.ContentLength
	}
	if req.ContentLength == 0 && req.Body != http.NoBody {
		return req.Body, -1
	}
	return req.Body, req.ContentLength
}

// buffered is a body that was read.
type buffered struct {
	b       []byte
	refusal *reply.Error
}

// Body returns the body, which must be at most limit bytes. It is read once. The caller
// must not change it, and must not use r concurrently.
//
// A longer body is refused with 413 RequestBodyTooLarge; if its length was declared, it is
// not read. A body that does not have its declared length is refused with 400 InvalidInput.
func (r *Request) Body(limit int64) ([]byte, *reply.Error) {
	if r.buffered == nil {
		b, refusal, _ := readBody(r.body, r.ContentLength, limit)
		r.buffered = &buffered{b, refusal}
	}
	return r.buffered.b, r.buffered.refusal
}

// buffer reads the body, and returns the HTTP request to send in place of req.
func (r *Request) buffer(req *http.Request, limit int64) *http.Request {
	b, refusal, err := readBody(r.body, r.ContentLength, limit)
	r.buffered = &buffered{b, refusal}
	if refusal != nil {
		r.buffered.b = nil
	}
	if len(b) == 0 && err == nil {
		return req
	}
	out := new(http.Request)
	*out = *req
	out.Body = &replay{head: b, err: err, rest: req.Body}
	return out
}

// readBody returns the part of body that it has read, even if the body is refused, and the
// error of reading.
func readBody(body io.Reader, declared, limit int64) ([]byte, *reply.Error, error) {
	if declared > limit {
		return nil, reply.TooLarge(limit), nil
	}
	if declared == 0 {
		return nil, nil, nil
	}
	most := declared + 1 // one more byte detects a body that is too long
	if declared < 0 {
		most = limit + 1
	}
	b := make([]byte, 0, min(most, firstRead+1))
	if declared < 0 {
		b = nil
	}
	var err error
	for int64(len(b)) < most && err == nil {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(most, max(512, 2*int64(cap(b))))), b...)
		}
		var n int
		n, err = body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	switch {
	case declared < 0 && int64(len(b)) > limit:
		return b, reply.TooLarge(limit), err
	case err != nil, declared > 0 && int64(len(b)) != declared:
		return b, reply.WrongLength(), err
	}
	return b, nil, nil
}

// replay is a body whose beginning was already read. It returns that part again, and then the rest.
type replay struct {
	head []byte
	err  error // of reading on, if that failed
	rest io.ReadCloser
}

func (p *replay) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.rest.Read(b)
}

func (p *replay) Close() error { return p.rest.Close() }
