package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"
)

// Replies are read into buffers that are used again. A buffer above keepBuffer
// bytes is left to the collector, so that one large reply does not stay for ever.
const (
	minBuffer  = 4 << 10
	keepBuffer = 8 << 20
)

var buffers sync.Pool

func getBuffer(size int) *[]byte {
	// A pooled buffer that is too small is dropped: put back, it would be the next
	// one to come out again.
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return b
	}
	b := make([]byte, 0, max(size, minBuffer))
	return &b
}

func putBuffer(b *[]byte) {
	if cap(*b) <= keepBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// readAll reads r to its end into *buf, growing it where needed, but not beyond
// the limit: whoever sends without end must not take all memory.
func readAll(buf *[]byte, r io.Reader, limit int64) ([]byte, error) {
	b := (*buf)[:0]
	for {
		if len(b) == cap(b) {
			if int64(len(b)) >= limit {
				return b, errEndless
			}
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			*buf = b
			if err == io.EOF {
				err = nil
			}
			return b, err
		}
	}
}

var errEndless = errors.New("longer than any that the service sends")

// maxReply is about the most bytes that the reply to c can have. A row has 1 MiB,
// and less than 4 MiB as JSON, where the two bytes of a UTF-16 unit take six at
// most; Cosmos DB lets it have twice as much. Over 2 GiB nothing can be decoded.
func (c *call) maxReply() int64 { return min(int64(max(c.rows, 1))*(8<<20), 2<<30) }

// body is a request's body in a buffer that is used again when nobody reads it any
// more. A transport may read on after it has answered, until it closes the body it
// was given; so each reader counts until it is closed, and so does the call.
type body struct {
	buf  *[]byte
	refs atomic.Int32
}

func newBody(buf *[]byte) *body {
	b := &body{buf: buf}
	b.refs.Store(1)
	return b
}

// fixedBody is a body whose bytes stay the caller's.
func fixedBody(text []byte) *body {
	b := newBody(&text)
	b.refs.Store(math.MaxInt32 / 2) // never used again
	return b
}

// release gives up one reader's, or the call's, claim.
func (b *body) release() {
	if b.refs.Add(-1) == 0 {
		putBuffer(b.buf)
	}
}

// reader gives the body to read from the start. It must not be called after the
// call has released its claim.
func (b *body) reader() io.ReadCloser {
	b.refs.Add(1)
	r := &bodyReader{body: b}
	r.Reset(*b.buf)
	return r
}

type bodyReader struct {
	bytes.Reader
	body   *body
	closed atomic.Bool
}

func (r *bodyReader) Close() error {
	if !r.closed.Swap(true) {
		r.body.release()
	}
	return nil
}
